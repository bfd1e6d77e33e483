import { describe, isDone, rowsOf, type Operation } from '../history.ts';
import type { Freeze } from '../system/faults.ts';
import { findIdsOutOfOrder, findUnexplainedKeys } from './creates.ts';
import { stepsByItem, type ItemStep } from './items.ts';
import { isLinearizable } from './linearizable.ts';
import { brokenPage, lateResponse, responseOfAnotherRequest, unexpectedResponse } from './responses.ts';
import { shrink } from './shrink.ts';
import { first, type Violation } from './violation.ts';
import { findBrokenWalk } from './walks.ts';

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
  operations: readonly Operation[],
  { freezes = [], consistency = 'linearizable' }: CheckOptions = {},
): Violation[] {
  const items = stepsByItem(operations);
  const unexplained = findUnexplained(items, consistency === 'regular' ? splitReads : (steps) => [steps]);
  return [
    ...first(operations, 'responses are of the contract', unexpectedResponse),
    ...first(operations, 'responses belong to their requests', responseOfAnotherRequest),
    ...findUnexplainedKeys(operations),
    ...findIdsOutOfOrder(operations),
    ...first(operations, 'pages are whole and in order', brokenPage),
    ...findWrongTotals(operations),
    ...unexplained,
    // Walks are compared with the lifetimes of the items, which reads tell only when they are linearizable.
    ...(unexplained.length === 0 && consistency === 'linearizable' ? findBrokenWalk(operations, items) : []),
    ...first(operations, 'requests end in time', (operation) => lateResponse(operation, freezes)),
  ];
}

/** Compares the lists, summaries and the row counts at the end. */
function findWrongTotals(operations: readonly Operation[]): Violation[] {
  const last = operations.filter((operation) => operation.client === FINAL_CLIENT && isDone(operation));
  const list = last.find(({ kind }) => kind === 'list');
  const rows = list ? rowsOf(list) : [];
  const total = rows.length;
  const finished = rows.filter(({ status }) => status === 'Finished').length;
  return first(last, 'totals equal rows', (operation) => {
    const { kind, walk, response } = operation;
    const summary = response!.body as { total: number; finished: number };
    const isRight =
      kind === 'list'
        ? response!.total === total && (walk !== undefined || rowsOf(operation).length === total)
        : summary.total === total && summary.finished === finished;
    return isRight ? undefined : `The database has ${total} items, ${finished} of them finished`;
  });
}

/** @param split parts of the history of an item of which each must be linearizable */
function findUnexplained(
  items: ReadonlyMap<number, readonly ItemStep[]>,
  split: (steps: readonly ItemStep[]) => (readonly ItemStep[])[],
): Violation[] {
  for (const [id, all] of items) {
    const steps = isLinearizable(all) ? undefined : split(all).find((part) => !isLinearizable(part));
    if (!steps) continue;
    const lines = shrink(steps).map(({ operation }) => describe(operation, id));
    return [{ check: 'items are linearizable', message: `No order of its operations explains item ${id}`, lines }];
  }
  return [];
}

/** All writes with each read. */
function splitReads(steps: readonly ItemStep[]) {
  const writes = steps.filter(({ isWrite }) => isWrite);
  return steps.filter(({ isWrite }) => !isWrite).map((read) => [...writes, read]);
}
