import { isDone, rowsOf, type Operation } from '../history.ts';
import { stepsByItem, type ItemStep } from './items.ts';

interface WalkError {
  message: string;
  walk: number;
  id: number;
}

/** Times at which an item began and ceased to exist, each between two bounds. */
interface Lifetime {
  id: number;
  created: { from: number; to: number };
  deleted: { from: number; to: number };
}

/**
 * Checks each walk over all pages. A row that is deleted or created moves those of higher ids to another page, so what is certain is:
 * items that exist throughout the walk, and whose ids are lower than any that appeared or disappeared, are in it exactly once.
 * @returns the first error
 */
export function findWalkErrors(operations: readonly Operation[]): WalkError[] {
  const lifetimes = [...stepsByItem({ operations: [...operations] })].flatMap(([id, steps]) => lifetimeOf(id, steps));
  for (const [walk, pages] of Map.groupBy(operations, (operation) => operation.walk)) {
    if (walk === undefined || !isComplete(pages)) continue;
    const time = { from: pages[0]!.startedAt, to: pages.at(-1)!.endedAt };
    const unstable = lifetimes.filter(({ created, deleted }) => overlaps(created, time) || overlaps(deleted, time));
    const limit = Math.min(...unstable.map(({ id }) => id));
    const seen = pages.flatMap(rowsOf).map(({ id }) => id);
    for (const { id, created, deleted } of lifetimes) {
      if (id >= limit || created.to > time.from || deleted.from < time.to) continue;
      const times = seen.filter((each) => each === id).length;
      if (times !== 1) return [{ message: `Walk ${walk} has item ${id} ${times} times`, walk, id }];
    }
  }
  return [];
}

const overlaps = (a: { from: number; to: number }, b: { from: number; to: number }) => a.from < b.to && a.to > b.from;

/** Whether every page was read, and the last one was not full. */
function isComplete(pages: readonly Operation[]) {
  const last = pages.at(-1)!;
  return pages.every(isDone) && rowsOf(last).length < last.position!.limit;
}

/** @returns nothing for an item that no create has made */
function lifetimeOf(id: number, steps: readonly ItemStep[]): Lifetime[] {
  const create = steps.find(({ operation }) => operation.kind === 'create');
  if (!create) return [];
  const present = steps.filter(({ exists }) => exists);
  const acknowledged = steps.filter(
    ({ operation, exists }) => operation.kind === 'delete' && exists === false && isDone(operation),
  );
  const createdBy = Math.min(...[...present, ...acknowledged].map(({ endedAt }) => endedAt));
  const gone = steps.filter(({ exists, startedAt }) => exists === false && startedAt > createdBy);

  const lastSeen = Math.max(...present.map(({ startedAt }) => startedAt));
  const deletes = steps.filter(({ operation, isWrite }) => operation.kind === 'delete' && isWrite);
  return [
    {
      id,
      created: { from: create.startedAt, to: createdBy },
      deleted: {
        from: Math.max(lastSeen, Math.min(...deletes.map(({ startedAt }) => startedAt))),
        to: Math.min(...[...acknowledged, ...gone].map(({ endedAt }) => endedAt)),
      },
    },
  ];
}
