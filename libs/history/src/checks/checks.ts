import type { Freeze } from '../system/faults.ts';
import {
  createdId,
  describe,
  isAbsent,
  isDone,
  isUnknown,
  rowsOf,
  type History,
  type Operation,
  type Row,
} from '../history.ts';
import { idsByTitle, stepsByItem, type ItemStep } from '../clients/items.ts';
import { isLinearizable } from './linearizable.ts';
import { shrink } from './shrink.ts';
import { findWalkErrors } from './walks.ts';

export type CheckName =
  | 'responses belong to their requests'
  | 'responses are of the contract'
  | 'a create makes one item'
  | 'ids increase'
  | 'totals equal rows'
  | 'pages are whole and in order'
  | 'walks neither skip nor repeat'
  | 'items are linearizable'
  | 'acknowledged writes stay'
  | 'requests end in time';

/** What a history must not show. */
export interface Violation {
  check: CheckName;
  message: string;
  /** The shortest part of the history that shows it, a line for each operation. */
  lines: string[];
}

/** A list of a larger limit is read in several chunks, each as it was at its own time. */
const SNAPSHOT_ROWS = 250;

/** Maximum time of a request, and the margin of a busy machine. */
const REQUEST_MS = 3_000;
const MARGIN_MS = 1_500;

/** Client of the requests at the end, when all faults have healed and no write is in flight. */
export const FINAL_CLIENT = 'final';

export interface CheckOptions {
  /** Times in which a service could not respond. */
  freezes?: Freeze[];
  /**
   * `regular` where services read from the standby, which shows a commit some milliseconds before the primary does: a read sees every
   * write that had been acknowledged, and may see one that has not, which a later read or write at the primary misses.
   */
  consistency?: 'linearizable' | 'regular';
}

/** Checks a whole history. @returns one violation of each check that fails */
export function findViolations(
  { operations }: Pick<History, 'operations'>,
  { freezes = [], consistency = 'linearizable' }: CheckOptions = {},
): Violation[] {
  const unexplained = findUnexplained(operations, consistency === 'regular' ? splitReads : (steps) => [steps]);
  return [
    ...first(operations, 'responses are of the contract', unexpectedResponse),
    ...first(operations, 'responses belong to their requests', responseOfAnotherRequest),
    ...findForeignValues(operations),
    ...findRepeatedCreates(operations),
    ...findIdsOutOfOrder(operations),
    ...first(operations, 'pages are whole and in order', brokenPage),
    ...findWrongTotals(operations),
    ...unexplained,
    // Walks are compared with the lifetimes of the items, which reads tell only when they are linearizable.
    ...(unexplained.length === 0 && consistency === 'linearizable' ? findBrokenWalk(operations) : []),
    ...first(operations, 'requests end in time', (operation) => lateResponse(operation, freezes)),
  ];
}

/** The violation of the first operation for which `find` returns a message. */
function first(
  operations: readonly Operation[],
  check: CheckName,
  find: (operation: Operation) => string | undefined,
): Violation[] {
  for (const operation of operations) {
    const message = find(operation);
    if (message) return [{ check, message, lines: [describe(operation)] }];
  }
  return [];
}

function unexpectedResponse(operation: Operation) {
  const { response, error } = operation;
  if (error === 'SyntaxError') return 'A whole response is not JSON';
  if (!response || isDone(operation) || [500, 503].includes(response.status)) return undefined;
  return response.status === 404 && operation.key !== undefined ? undefined : `Unexpected status ${response.status}`;
}

function responseOfAnotherRequest(operation: Operation) {
  const { response, requestId, kind, key } = operation;
  if (!response || operation.service === undefined) return undefined;
  if (response.requestId !== requestId) return `X-Request-Id is ${response.requestId}`;
  if (isAbsent(operation) || isUnknown(operation)) return undefined;
  const { id, message } = response.body as { id?: number; message?: string };
  const isOfKind = {
    create: () => response.status === 201 && typeof id === 'number',
    read: () => id === key,
    update: () => message === 'Item updated successfully',
    delete: () => message === 'Item deleted successfully',
    list: () => Array.isArray(response.body) && response.total !== undefined,
    summary: () => typeof (response.body as { total?: number }).total === 'number',
  }[kind]();
  return isOfKind ? undefined : `The response is not that of ${kind === 'read' ? `item ${key}` : `a ${kind}`}`;
}

/** A title that a row has must have been sent for that item. */
function findForeignValues(operations: readonly Operation[]): Violation[] {
  const senders = new Map<string, Operation>();
  for (const operation of operations) if (operation.body?.title) senders.set(operation.body.title, operation);
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
function findRepeatedCreates(operations: readonly Operation[]): Violation[] {
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

function findIdsOutOfOrder(operations: readonly Operation[]): Violation[] {
  const last = new Map<string, Operation>();
  for (const operation of operations) {
    const id = createdId(operation);
    if (id === undefined) continue;
    const before = last.get(operation.client);
    if (before && createdId(before)! >= id) {
      return [
        {
          check: 'ids increase',
          message: `${operation.client} got id ${id} after id ${createdId(before)}`,
          lines: [describe(before), describe(operation)],
        },
      ];
    }
    last.set(operation.client, operation);
  }
  return [];
}

function brokenPage(operation: Operation) {
  const { kind, response, position } = operation;
  if (kind !== 'list' || !isDone(operation)) return undefined;
  const rows = rowsOf(operation);
  const unordered = rows.find(({ id }, index) => index > 0 && id <= rows[index - 1]!.id);
  if (unordered) return `Item ${unordered.id} is not in the order of the ids`;
  const { offset, limit } = position!;
  const expected = Math.min(limit, Math.max(0, response!.total! - offset));
  if (limit <= SNAPSHOT_ROWS && rows.length !== expected) {
    return `The page has ${rows.length} rows; with a total of ${response!.total}, it must have ${expected}`;
  }
  return undefined;
}

/** Compares the lists, summaries and the row counts at the end. */
function findWrongTotals(operations: readonly Operation[]): Violation[] {
  const last = operations.filter(({ client }) => client === FINAL_CLIENT).filter(isDone);
  const lists = last.filter(({ kind }) => kind === 'list');
  const expected = lists[0] && summaryOf(lists[0]);
  for (const operation of last) {
    const isRight =
      operation.kind === 'list'
        ? operation.response!.total === expected!.total && rowsOf(operation).length === expected!.total
        : Object.entries(expected!).every(
            ([name, count]) => (operation.response!.body as Record<string, unknown>)[name] === count,
          );
    if (!isRight) {
      return [
        {
          check: 'totals equal rows',
          message: `The database has ${expected!.total} items, ${expected!.finished} of them finished`,
          lines: [describe(operation)],
        },
      ];
    }
  }
  return [];
}

function summaryOf(operation: Operation) {
  const rows = rowsOf(operation);
  return { total: rows.length, finished: rows.filter(({ status }) => status === 'Finished').length };
}

/** @param split parts of the history of an item of which each must be linearizable */
function findUnexplained(
  operations: readonly Operation[],
  split: (steps: readonly ItemStep[]) => (readonly ItemStep[])[],
): Violation[] {
  for (const [id, all] of stepsByItem({ operations: [...operations] })) {
    if (isLinearizable(all)) continue;
    const steps = split(all).find((part) => !isLinearizable(part));
    if (!steps) continue;
    const early = steps.filter(({ operation }) => operation.client !== FINAL_CLIENT);
    const isLost = isLinearizable(early);
    return [
      {
        check: isLost ? 'acknowledged writes stay' : 'items are linearizable',
        message: isLost ? `Item ${id} has lost a write` : `No order of its operations explains item ${id}`,
        lines: shrink(isLost ? steps : early).map(({ operation }) => describe(operation, id)),
      },
    ];
  }
  return [];
}

/** All writes with each read. */
function splitReads(steps: readonly ItemStep[]) {
  const writes = steps.filter(({ isWrite }) => isWrite);
  return steps.filter(({ isWrite }) => !isWrite).map((read) => [...writes, read]);
}

function findBrokenWalk(operations: readonly Operation[]): Violation[] {
  return findWalkErrors(operations).map(({ message, walk, id }) => ({
    check: 'walks neither skip nor repeat',
    message,
    lines: operationsAbout(operations, id, walk).map((operation) => describe(operation, id)),
  }));
}

function lateResponse(operation: Operation, freezes: Freeze[]) {
  const { startedAt, endedAt, service } = operation;
  const ms = endedAt - startedAt;
  const isFrozen = freezes.some(
    (freeze) => freeze.service === service && freeze.from < endedAt && freeze.to > startedAt,
  );
  return ms > REQUEST_MS + MARGIN_MS && !isFrozen ? `The request took ${ms.toFixed()} ms` : undefined;
}

/** The pages of a walk, and the creates and deletes of an item. */
const operationsAbout = (operations: readonly Operation[], id: number, walk: number) =>
  operations
    .filter(
      (operation) =>
        operation.walk === walk ||
        createdId(operation) === id ||
        (operation.key === id && operation.kind !== 'read' && operation.kind !== 'update'),
    )
    .sort((a, b) => a.startedAt - b.startedAt);
