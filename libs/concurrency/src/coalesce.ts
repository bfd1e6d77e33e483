import { setImmediate as endOfTurn } from 'node:timers/promises';

/**
 * Makes calls in one event-loop turn with the same arguments share one call of `run`, which starts at the end of the turn.
 * Nothing is cached: a call that has started does not see what has been committed since.
 * @param run takes arguments that JSON can tell apart
 */
export function coalesce<Arguments extends unknown[], Result>(run: (...args: Arguments) => Promise<Result>) {
  const results = new Map<string, Promise<Result>>();
  return (...args: Arguments): Promise<Result> => {
    const key = JSON.stringify(args);
    const shared = results.get(key);
    if (shared) return shared;
    const result = endOfTurn().then(() => {
      results.delete(key);
      return run(...args);
    });
    results.set(key, result);
    return result;
  };
}
