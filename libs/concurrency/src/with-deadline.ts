/** Time in which an event loop that was blocked reads a response that has arrived. */
const READ_MS = 300;

/**
 * Rejects at the deadline; `work` goes on, and its result is dropped. Where the event loop was blocked at the deadline, it gets some time
 * to read a result that has arrived.
 * @param deadline a time of `performance.now()`
 */
export function withDeadline<Result>(deadline: number, work: Promise<Result>, onTimeout: () => Error) {
  return new Promise<Result>((resolve, reject) => {
    const fail = () => reject(onTimeout());
    const ms = Math.max(1, deadline - performance.now());
    const readMs = Math.min(ms, READ_MS);
    let timer = setTimeout(() => (timer = setTimeout(fail, readMs)), ms - readMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
