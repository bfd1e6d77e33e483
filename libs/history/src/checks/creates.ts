import { createdId, describe, isOfUsedKey, isUnknown, rowsOf, type Operation, type Row } from '../history.ts';
import { idsByTitle } from './items.ts';
import { isLinearizable, type Step } from './linearizable.ts';
import type { Violation } from './violation.ts';

/** A title that a row has must have been sent for that item. */
export function findForeignValues(operations: readonly Operation[]): Violation[] {
  const senders = new Map<string, Operation>();
  for (const operation of operations) {
    const title = operation.body?.title;
    // Of a create and its repetitions, the one that tells the id.
    if (title && (!senders.has(title) || createdId(operation) !== undefined)) senders.set(title, operation);
  }
  for (const operation of operations) {
    for (const row of rowsOf(operation)) {
      const sender = senders.get(row.title);
      if (sender && isOf(row, sender)) continue;
      return [
        {
          check: 'responses belong to their requests',
          message: `Item ${row.id} shows a title that was not sent for it`,
          lines: [...(sender ? [sender] : []), operation].map((each) => describe(each, row.id)),
        },
      ];
    }
  }
  return [];
}

function isOf({ id }: Row, sender: Operation) {
  return sender.kind === 'create' ? [id, undefined].includes(createdId(sender)) : id === sender.key;
}

/** A create that is repeated after a lost connection, for example. */
export function findRepeatedCreates(operations: readonly Operation[]): Violation[] {
  const titles = new Set(operations.filter(({ kind }) => kind === 'create').map(({ body }) => body!.title));
  const ids = idsByTitle(operations);
  for (const operation of operations) {
    const row = rowsOf(operation).find(({ id, title }) => titles.has(title) && ids.get(title) !== id);
    if (!row) continue;
    const creates = operations.filter(({ kind, body }) => kind === 'create' && body?.title === row.title);
    return [
      {
        check: 'a create makes one item',
        message: `Items ${ids.get(row.title)} and ${row.id} are of one create`,
        lines: [...creates, operation].map((each) => describe(each, row.id)),
      },
    ];
  }
  return [];
}

/** What PostgreSQL keeps about a key. */
interface KeyState {
  title: string;
  id: number | undefined;
}

/** The requests with one key, in some order: the first one makes an item, the same request gets its id again, another one gets 422. */
export function findUnexplainedKeys(operations: readonly Operation[]): Violation[] {
  const ids = idsByTitle(operations);
  const keyed = operations.filter(({ idempotencyKey }) => idempotencyKey !== undefined);
  for (const [key, requests] of Map.groupBy(keyed, ({ idempotencyKey }) => idempotencyKey)) {
    if (isLinearizable(requests.map((request) => keyStep(request, ids.get(request.body!.title!))))) continue;
    const lines = requests.toSorted((a, b) => a.startedAt - b.startedAt).map((request) => describe(request));
    return [{ check: 'a key makes one item', message: `No order of its requests explains key ${key}`, lines }];
  }
  return [];
}

/** @param seenId of the item with the title of the request, which tells that a request of unknown outcome was done */
function keyStep(request: Operation, seenId: number | undefined): Step<KeyState> {
  const title = request.body!.title!;
  const id = createdId(request) ?? (isUnknown(request) ? seenId : undefined);
  const { startedAt } = request;
  if (isOfUsedKey(request)) {
    const apply = (state?: KeyState) => (state && state.title !== title ? state : false);
    return { startedAt, endedAt: request.endedAt, isOptional: false, apply };
  }
  return {
    startedAt,
    endedAt: isUnknown(request) ? Number.MAX_VALUE : request.endedAt,
    isOptional: id === undefined,
    apply: (state) => (state ? state.title === title && state.id === id && state : { title, id }),
  };
}

/** The first request with a key is the one that draws an id. */
export function findIdsOutOfOrder(operations: readonly Operation[]): Violation[] {
  const last = new Map<string, Operation>();
  const keys = new Set<string>();
  for (const operation of operations) {
    const { client, idempotencyKey, startedAt } = operation;
    if (idempotencyKey !== undefined && keys.has(idempotencyKey)) continue;
    if (idempotencyKey !== undefined) keys.add(idempotencyKey);
    const id = createdId(operation);
    if (id === undefined) continue;
    const before = last.get(client);
    if (before && before.endedAt <= startedAt && createdId(before)! >= id) {
      return [
        {
          check: 'ids increase',
          message: `${client} got id ${id} after id ${createdId(before)}`,
          lines: [describe(before), describe(operation)],
        },
      ];
    }
    last.set(client, operation);
  }
  return [];
}
