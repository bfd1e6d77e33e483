/** What a promise was waited for in vain. */
export class TooLate extends Error {}

/** Settles as a promise does, and is rejected with `TooLate` when that takes longer. */
export const within = <Value>(ms: number, promise: Promise<Value>): Promise<Value> =>
  Promise.race([
    promise,
    new Promise<never>((_resolve, reject) => {
      setTimeout(() => reject(new TooLate()), ms);
    }),
  ]);

/** Maximum wait for what people see at once otherwise: a response, the storage of the browser, its locks. */
export const SLOW_MS = 3_000;
