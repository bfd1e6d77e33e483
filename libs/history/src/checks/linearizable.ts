/** State of one item: `undefined` while it does not exist. */
export type State = { title: string; status: string } | undefined;

/** An operation on one item, from its invocation to its response. */
export interface Step {
  startedAt: number;
  endedAt: number;
  /** Whether it changes the state. */
  isWrite: boolean;
  /** Whether its outcome is unknown: it may happen at any time after its start, or never. */
  isOptional: boolean;
  /** @returns the state after it, or `false` when the response contradicts the state before it */
  apply(state: State): State | false;
}

/**
 * Whether some order of the steps explains all responses: each step takes effect at one moment between its start and its end
 * (Wing and Gong, with Lowe's memory of the configurations that have failed).
 */
export function isLinearizable(steps: readonly Step[]): boolean {
  const sorted = [...steps].sort((a, b) => a.startedAt - b.startedAt);
  const failed = new Set<string>();

  function search(done: boolean[], state: State): boolean {
    for (;;) {
      const { possible, deadline } = nextSteps(sorted, done);
      if (deadline === Infinity) return true;
      // A read changes nothing: where one fits, no later place can be better.
      const reads = possible.filter((index) => !sorted[index]!.isWrite && sorted[index]!.apply(state) !== false);
      if (reads.length > 0) {
        reads.forEach((index) => (done[index] = true));
        continue;
      }

      const configuration = `${done.map((isStepDone) => (isStepDone ? 1 : 0)).join('')} ${JSON.stringify(state)}`;
      if (failed.has(configuration)) return false;
      failed.add(configuration);
      return possible.some((index) => {
        const step = sorted[index]!;
        const after = step.isWrite && step.apply(state);
        if (after === false) return false;
        const next = [...done];
        next[index] = true;
        return search(next, after);
      });
    }
  }
  return search(new Array<boolean>(sorted.length).fill(false), undefined);
}

/** Steps that can be next: none may start after another one that is not done has ended, which is the deadline. */
function nextSteps(sorted: readonly Step[], done: readonly boolean[]) {
  const open: number[] = [];
  let deadline = Infinity;
  for (const [index, { startedAt, endedAt, isOptional }] of sorted.entries()) {
    if (done[index]) continue;
    if (startedAt > deadline) break;
    open.push(index);
    if (!isOptional) deadline = Math.min(deadline, endedAt);
  }
  return { possible: open.filter((index) => sorted[index]!.startedAt <= deadline), deadline };
}
