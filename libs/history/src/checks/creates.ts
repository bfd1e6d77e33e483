import { createdId, describe, isUnknown, statusOf, type Operation } from '../history.ts';
import { idsByTitle } from './items.ts';
import { isLinearizable, type Step } from './linearizable.ts';
import type { Violation } from './violation.ts';

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
  if (statusOf(request) === 422) {
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
