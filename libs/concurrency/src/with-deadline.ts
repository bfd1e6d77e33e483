/**
 * Rejects at the deadline; `work` goes on, and its result is dropped.
 * @param deadline a time of `performance.now()`
 */
export function withDeadline<Result>(deadline: number, work: Promise<Result>, onTimeout: () => Error) {
  return new Promise<Result>((resolve, reject) => {
    const timer = setTimeout(() => reject(onTimeout()), Math.max(1, deadline - performance.now()));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
