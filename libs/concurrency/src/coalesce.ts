import { setImmediate as endOfTurn } from 'node:timers/promises';
import { context, type Context } from '@opentelemetry/api';
import { sharedContext } from './shared-context.ts';

/**
 * Makes calls in one event-loop turn with the same arguments share one call of `run`, which starts at the end of the turn.
 * Nothing is cached: a call that has started does not see what has been committed since.
 * @param run takes arguments that JSON can tell apart
 */
export function coalesce<Arguments extends unknown[], Result>(run: (...args: Arguments) => Promise<Result>) {
  const calls = new Map<string, { result: Promise<Result>; callers: Context[] }>();
  return (...args: Arguments): Promise<Result> => {
    const key = JSON.stringify(args);
    const shared = calls.get(key);
    if (shared) {
      shared.callers.push(context.active());
      return shared.result;
    }
    const callers = [context.active()];
    const result = endOfTurn().then(() => {
      calls.delete(key);
      return context.with(sharedContext(callers), () => run(...args));
    });
    calls.set(key, { result, callers });
    return result;
  };
}
