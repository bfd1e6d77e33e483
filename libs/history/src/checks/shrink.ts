import { isLinearizable } from './linearizable.ts';
import type { ItemStep } from './items.ts';

/**
 * Removes steps from a history that is not linearizable, as long as the rest is not linearizable either. A removed write may still
 * happen at any time: otherwise a value that it wrote would look invented.
 */
export function shrink(steps: readonly ItemStep[]): ItemStep[] {
  let rest = [...steps];
  const removedWrites: ItemStep[] = [];
  for (let size = Math.ceil(rest.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < rest.length;) {
      const others = [...rest.slice(0, at), ...rest.slice(at + size)];
      const writes = rest
        .slice(at, at + size)
        .filter(({ isWrite }) => isWrite)
        .map((step) => ({ ...step, startedAt: -Number.MAX_VALUE, endedAt: Infinity, isOptional: true }));
      if (isLinearizable([...others, ...removedWrites, ...writes])) {
        at += size;
        continue;
      }
      rest = others;
      removedWrites.push(...writes);
    }
  }
  return rest.sort((a, b) => a.startedAt - b.startedAt);
}
