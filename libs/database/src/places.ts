/** A number of places: whoever finds none free waits, in the order of coming. */
export type Places = ReturnType<typeof places>;

/** As p-limit, which takes longer to make than a statement takes of the processor: each row that is changed has places. */
export function places(count: number) {
  let taken = 0;
  const waiting: (() => void)[] = [];
  return {
    isFull: () => taken >= count,
    isEmpty: () => taken === 0,
    /** How many wait. */
    queue: () => waiting.length,
    /** Runs `work` as soon as there is a place for it. */
    async use<Result>(work: () => Promise<Result>) {
      // Whoever is over hands its place on.
      if (taken >= count) await new Promise<void>((resolve) => waiting.push(resolve));
      else taken += 1;
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else taken -= 1;
      }
    },
  };
}
