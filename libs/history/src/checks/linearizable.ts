/** An operation on one object, from its invocation to its response. */
export interface Step<State> {
  startedAt: number;
  endedAt: number;
  /** Whether its outcome is unknown: it may happen at any time after its start, or never. */
  isOptional: boolean;
  /**
   * @param state before it; `undefined` while the object does not exist
   * @returns the state after it, which is the same object when it changes nothing, or `false` when its response contradicts the state
   */
  apply(state: State | undefined): State | undefined | false;
}

/**
 * Whether some order of the steps explains all responses: each step takes effect at one moment between its start and its end
 * (Wing and Gong, with Lowe's memory of the configurations that have failed).
 */
export function isLinearizable<State>(steps: readonly Step<State>[]): boolean {
  const sorted = [...steps].sort((a, b) => a.startedAt - b.startedAt);
  const failed = new Set<string>();

  function search(done: boolean[], state: State | undefined): boolean {
    for (;;) {
      const { possible, deadline } = nextSteps(sorted, done);
      if (deadline === Infinity) return true;
      // Where a step fits and changes nothing, no later place can be better.
      const idle = possible.filter((index) => !sorted[index]!.isOptional && sorted[index]!.apply(state) === state);
      if (idle.length > 0) {
        idle.forEach((index) => (done[index] = true));
        continue;
      }

      const configuration = `${done.map((isStepDone) => (isStepDone ? 1 : 0)).join('')} ${JSON.stringify(state)}`;
      if (failed.has(configuration)) return false;
      failed.add(configuration);
      return possible.some((index) => {
        const after = sorted[index]!.apply(state);
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
function nextSteps(sorted: readonly Step<unknown>[], done: readonly boolean[]) {
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
