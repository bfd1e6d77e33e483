import { setImmediate } from 'node:timers/promises';
import { context, type Context } from '@opentelemetry/api';
import { sharedContext } from './shared-context.ts';

/**
 * Makes calls in one iteration of the event loop with the same key share one call of `run`, which starts at its end.
 * Nothing is cached: a call that has started does not see what has been committed since.
 */
export class SharedCalls<Result> {
  readonly #calls = new Map<string, { result: Promise<Result>; callers: Context[] }>();

  shareCall(key: string, run: () => Promise<Result>): Promise<Result> {
    const shared = this.#calls.get(key);
    if (shared) {
      shared.callers.push(context.active());
      return shared.result;
    }
    const callers = [context.active()];
    const result = setImmediate().then(() => {
      this.#calls.delete(key);
      return context.with(sharedContext(callers), run);
    });
    this.#calls.set(key, { result, callers });
    return result;
  }
}

/**
 * As `SharedCalls`, for one function.
 * @param run takes arguments that JSON can tell apart
 */
export function coalesce<Arguments extends unknown[], Result>(run: (...args: Arguments) => Promise<Result>) {
  const calls = new SharedCalls<Result>();
  return (...args: Arguments) => calls.shareCall(JSON.stringify(args), () => run(...args));
}
