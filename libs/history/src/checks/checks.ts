import { createdId, describe, isDone, rowsOf, type History, type Operation } from '../history.ts';
import type { Freeze } from '../system/faults.ts';
import { findForeignValues, findIdsOutOfOrder, findRepeatedCreates, findUnexplainedKeys } from './creates.ts';
import { stepsByItem, type ItemStep } from './items.ts';
import { isLinearizable } from './linearizable.ts';
import { brokenPage, lateResponse, responseOfAnotherRequest, unexpectedResponse } from './responses.ts';
import { shrink } from './shrink.ts';
import { first, type Violation } from './violation.ts';
import { findWalkErrors } from './walks.ts';

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
    ...findUnexplainedKeys(operations),
    ...findIdsOutOfOrder(operations),
    ...first(operations, 'pages are whole and in order', brokenPage),
    ...findWrongTotals(operations),
    ...unexplained,
    // Walks are compared with the lifetimes of the items, which reads tell only when they are linearizable.
    ...(unexplained.length === 0 && consistency === 'linearizable' ? findBrokenWalk(operations) : []),
    ...first(operations, 'requests end in time', (operation) => lateResponse(operation, freezes)),
  ];
}

/** Compares the lists, summaries and the row counts at the end. */
function findWrongTotals(operations: readonly Operation[]): Violation[] {
  const last = operations.filter(({ client }) => client === FINAL_CLIENT).filter(isDone);
  const lists = last.filter(({ kind }) => kind === 'list');
  const expected = lists[0] && summaryOf(lists[0]);
  for (const operation of last) {
    const isRight =
      operation.kind === 'list'
        ? operation.response!.total === expected!.total &&
          (operation.walk !== undefined || rowsOf(operation).length === expected!.total)
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
