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
}

/** Checks a whole history. @returns one violation of each check that fails */
export function findViolations(operations: readonly Operation[], { freezes = [] }: CheckOptions = {}): Violation[] {
  const items = stepsByItem(operations);
  const unexplained = findUnexplained(items);
  return [
    ...first(operations, 'responses are of the contract', unexpectedResponse),
    ...first(operations, 'responses belong to their requests', responseOfAnotherRequest),
    ...findUnexplainedKeys(operations),
    ...findIdsOutOfOrder(operations),
    ...first(operations, 'pages are whole and in order', brokenPage),
    ...findWrongTotals(operations),
    ...unexplained,
    // Walks are compared with the lifetimes of the items, which reads tell only when they are linearizable.
    ...(unexplained.length === 0 ? findBrokenWalk(operations, items) : []),
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

function findUnexplained(items: ReadonlyMap<number, readonly ItemStep[]>): Violation[] {
  for (const [id, steps] of items) {
    if (isLinearizable(steps)) continue;
    const lines = shrink(steps).map(({ operation }) => describe(operation, id));
    return [{ check: 'items are linearizable', message: `No order of its operations explains item ${id}`, lines }];
  }
  return [];
}
