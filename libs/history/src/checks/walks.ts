import { createdId, describe, isDone, rowsOf, type Operation } from '../history.ts';
import type { ItemStep } from './items.ts';
import type { Violation } from './violation.ts';

/**
 * Checks each walk over all pages. A row that is deleted or created moves those of higher ids to another page, so what is certain is:
 * items that exist throughout the walk, and whose ids are lower than any that appeared or disappeared, are in it exactly once.
 */
export function findBrokenWalk(
  operations: readonly Operation[],
  items: ReadonlyMap<number, readonly ItemStep[]>,
): Violation[] {
  for (const [walk, pages] of Map.groupBy(operations, (operation) => operation.walk)) {
    if (walk === undefined || !isComplete(pages)) continue;
    const existence = [...items].map(([id, steps]) => ({
      id,
      exists: existsThroughout(steps, pages[0]!.startedAt, pages.at(-1)!.endedAt),
    }));
    const limit = Math.min(...existence.filter(({ exists }) => exists === undefined).map(({ id }) => id));
    const seen = pages.flatMap(rowsOf).map(({ id }) => id);
    for (const { id, exists } of existence) {
      if (!exists || id >= limit) continue;
      const times = seen.filter((each) => each === id).length;
      if (times === 1) continue;
      const shown = operations.filter(
        (each) => each.walk === walk || createdId(each) === id || (each.key === id && each.kind === 'delete'),
      );
      return [
        {
          check: 'walks neither skip nor repeat',
          message: `Walk ${walk} has item ${id} ${times} times`,
          lines: shown.toSorted((a, b) => a.startedAt - b.startedAt).map((each) => describe(each, id)),
        },
      ];
    }
  }
  return [];
}

/** Whether every page was read, and the last one was not full. */
function isComplete(pages: readonly Operation[]) {
  const last = pages.at(-1)!;
  return pages.every(isDone) && rowsOf(last).length < last.position!.limit;
}

/** Whether an item exists throughout a time, or at no moment of it; `undefined` when it may appear or disappear. */
function existsThroughout(steps: readonly ItemStep[], from: number, to: number): boolean | undefined {
  const of = (kind: Operation['kind']) => steps.filter(({ operation, isWrite }) => isWrite && operation.kind === kind);
  const present = steps.filter(({ exists }) => exists);
  const isCreated = present.some(({ endedAt }) => endedAt <= from);
  // An id never comes back: an item that is seen after a delete of unknown outcome has existed before, too.
  const isDeletedLater = of('delete').every(({ startedAt }) => startedAt >= to);
  if (isCreated && (isDeletedLater || present.some(({ startedAt }) => startedAt >= to))) return true;
  const createdBy = Math.min(...present.map(({ endedAt }) => endedAt));
  const isGone = steps.some((step) => step.exists === false && step.startedAt >= createdBy && step.endedAt <= from);
  return isGone || of('create').every(({ startedAt }) => startedAt >= to) ? false : undefined;
}
