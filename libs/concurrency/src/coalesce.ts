import { setImmediate } from 'node:timers/promises';

/**
 * Makes calls in one iteration of the event loop with the same arguments share one call of `run`, which starts at its end.
 * Nothing is cached: a call that has started does not see what has been committed since.
 * @param run takes arguments that JSON can tell apart
 */
export function coalesce<Arguments extends unknown[], Result>(run: (...args: Arguments) => Promise<Result>) {
  const calls = new Map<string, Promise<Result>>();
  return (...args: Arguments): Promise<Result> => {
    const key = JSON.stringify(args);
    const shared = calls.get(key);
    if (shared) return shared;
    const result = setImmediate().then(() => {
      calls.delete(key);
      return run(...args);
    });
    calls.set(key, result);
    return result;
  };
}
