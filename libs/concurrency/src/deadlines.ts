import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Rejects at the deadline; `work` goes on, and its result is dropped.
 * @param deadline a time of `performance.now()`
 */
export async function withDeadline<Result>(deadline: number, work: Promise<Result>, onTimeout: () => Error) {
  const hasEnded = new AbortController();
  const timeoutMs = Math.max(1, deadline - performance.now());
  const timeout = sleep(timeoutMs, undefined, { signal: hasEnded.signal }).then(() => {
    throw onTimeout();
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    hasEnded.abort();
  }
}

/** Times of `performance.now()`, and the errors thrown at them. */
export interface Deadlines {
  begin: number;
  onNotBegun: () => Error;
  end: number;
  onNotEnded: () => Error;
}

/**
 * Runs work that waits for its turn. Work that has not begun by its deadline never begins; work whose turn comes at once begins
 * even after it.
 * @param takeTurn calls its argument when the turn has come, as `Semaphore.run` does
 */
export async function beginBy<Result>(
  { begin, onNotBegun, end, onNotEnded }: Deadlines,
  takeTurn: (work: () => Promise<Result>) => Promise<Result>,
  work: () => Promise<Result>,
) {
  // One flag decides, because a timer may fire up to a millisecond before the clock shows its time.
  let isRefused = false;
  const begun = Promise.withResolvers<undefined>();
  const result = takeTurn(async () => {
    if (isRefused) throw onNotBegun();
    begun.resolve(undefined);
    return work();
  });
  await withDeadline(begin, Promise.race([begun.promise, result]), () => {
    isRefused = true;
    return onNotBegun();
  });
  return withDeadline(end, result, onNotEnded);
}
