import { describe, isDone, isUnknown, rowsOf, type Operation } from '../history.ts';
import { stepsByItem } from './items.ts';
import { findUnexplainedKeys } from './keys.ts';
import { isLinearizable } from './linearizable.ts';

/** Client of the requests at the end, when all faults have healed and no write is in flight. */
export const FINAL_CLIENT = 'final';

/** A list of a larger limit is read in several chunks, each as it was at its own time. */
const SNAPSHOT_ROWS = 250;

/** What a history must not show. */
export interface Violation {
  /** The sentence that does not hold. */
  check: string;
  message: string;
  /** The part of the history that shows it, a line for each operation. */
  lines: string[];
}

/** Checks a whole history. @returns one violation of each check that fails */
export const findViolations = (operations: readonly Operation[]): Violation[] => [
  ...first(operations, 'responses are of the contract', unexpectedResponse),
  ...first(operations, 'pages are whole and in order', brokenPage),
  ...findWrongTotals(operations),
  ...findUnexplainedKeys(operations),
  ...findUnexplainedItem(operations),
];

/** The violation of the first operation for which `find` returns a message. */
function first(operations: readonly Operation[], check: string, find: (operation: Operation) => string | undefined) {
  for (const operation of operations) {
    const message = find(operation);
    if (message) return [{ check, message, lines: [describe(operation)] }];
  }
  return [];
}

function unexpectedResponse(operation: Operation) {
  const { response, error, key, ifMatch, idempotencyKey } = operation;
  if (error === 'SyntaxError') return 'A whole response is not JSON';
  if (!response || isDone(operation) || isUnknown(operation) || response.status === 503) return undefined;
  const causes: Record<number, unknown> = { 404: key, 412: ifMatch, 422: idempotencyKey };
  return causes[response.status] !== undefined ? undefined : `Unexpected status ${response.status}`;
}

function brokenPage(operation: Operation) {
  const { kind, response, position } = operation;
  if (kind !== 'list' || !isDone(operation)) return undefined;
  const rows = rowsOf(operation);
  const unordered = rows.find(({ id }, index) => index > 0 && id <= rows[index - 1]!.id);
  if (unordered) return `Item ${unordered.id} is not in the order of the ids`;
  const { offset, limit } = position!;
  const expected = Math.min(limit, Math.max(0, response!.total! - offset));
  if (limit > SNAPSHOT_ROWS || rows.length === expected) return undefined;
  return `The page has ${rows.length} rows; with a total of ${response!.total}, it must have ${expected}`;
}

/** Compares the pages, the summaries and the row counts at the end with the first list, which has all rows. */
function findWrongTotals(operations: readonly Operation[]) {
  const last = operations.filter((operation) => operation.client === FINAL_CLIENT && isDone(operation));
  const all = rowsOf(last.find(({ kind }) => kind === 'list') ?? last[0]!);
  const total = all.length;
  const finished = all.filter(({ status }) => status === 'Finished').length;
  return first(last, 'totals and pages equal rows', (operation) => {
    const { kind, position, response } = operation;
    const summary = response!.body as { total: number; finished: number };
    const ids = rowsOf(operation).map(({ id }) => id);
    const isRight =
      kind === 'list'
        ? response!.total === total &&
          all.slice(position!.offset, position!.offset + position!.limit).every(({ id }, index) => id === ids[index])
        : summary.total === total && summary.finished === finished;
    return isRight ? undefined : `The database has ${total} items, ${finished} of them finished`;
  });
}

function findUnexplainedItem(operations: readonly Operation[]): Violation[] {
  for (const [id, steps] of stepsByItem(operations)) {
    if (isLinearizable(steps)) continue;
    const sorted = steps.toSorted((a, b) => a.startedAt - b.startedAt);
    const lines = sorted.map(({ operation }) => describe(operation, id));
    return [{ check: 'items are linearizable', message: `No order of its operations explains item ${id}`, lines }];
  }
  return [];
}
