import { setImmediate } from 'node:timers/promises';
import { context, type Context } from '@opentelemetry/api';
import { sharedContext } from './shared-context.ts';

/**
 * Makes calls in one iteration of the event loop with the same arguments share one call of `run`, which starts at its end.
 * Nothing is cached: a call that has started does not see what has been committed since.
 * @param run takes arguments that JSON can tell apart
 */
export function coalesce<Arguments extends unknown[], Result>(run: (...args: Arguments) => Promise<Result>) {
  const shared = new Map<string, { result: Promise<Result>; callers: Context[] }>();
  return (...args: Arguments): Promise<Result> => {
    const key = JSON.stringify(args);
    const call = shared.get(key);
    if (call) {
      call.callers.push(context.active());
      return call.result;
    }
    const callers = [context.active()];
    const result = setImmediate().then(() => {
      shared.delete(key);
      return context.with(sharedContext(callers), () => run(...args));
    });
    shared.set(key, { result, callers });
    return result;
  };
}
