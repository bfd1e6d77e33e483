import { setImmediate as endOfTurn } from 'node:timers/promises';
import { overloaded } from '@rest-services/errors';
import DataLoader from 'dataloader';

// Requests that arrive in the same turn of the event loop share one statement, which costs little more than a statement
// for one of them. Nothing is kept: each request gets what was committed when its statement began.

/**
 * Requests that share one statement at most. More would gain little, and while PostgreSQL is busy with the requests of
 * all connections at once, the service would have nothing to do.
 */
const MAX_SHARING = 32;

/** The same for writes: a commit, and the triggers that count rows, cost as much for many rows as for one. */
export const MAX_WRITES = 64;

/** Two statements after each other, and the waits for their connections, could take longer than a request may. */
const SHARED_LIMIT_MS = 500;

/** Instead of what belongs to a key: it could not be shared, so that whoever asked for it gets a statement of its own. */
export const ALONE = Symbol('to be run alone');

/**
 * @param run answers what belongs to each key, in the order of the keys; for several, it may leave some `ALONE`
 * @returns a loader whose `load(key)` fails as `run` does. It throws an HttpError 503 where a key is left alone so late
 * that there is no time for that.
 */
export function sharing<Key, Result>(
  run: (keys: readonly Key[]) => Promise<(Result | typeof ALONE)[]>,
  maxBatchSize = MAX_SHARING,
) {
  async function runShared(keys: readonly Key[]): Promise<(Result | typeof ALONE)[]> {
    try {
      return await run(keys);
    } catch (error) {
      if (keys.length === 1 || !wasUndone(error)) throw error;
      return keys.map(() => ALONE);
    }
  }
  const shared = new DataLoader<Key, Result | typeof ALONE>(runShared, {
    cache: false,
    maxBatchSize,
    batchScheduleFn: (dispatch) => setImmediate(dispatch),
  });
  async function load(key: Key) {
    const askedAt = performance.now();
    const result = await shared.load(key);
    if (result !== ALONE) return result as Result;
    if (performance.now() - askedAt > SHARED_LIMIT_MS) throw overloaded();
    return (await run([key]))[0] as Result;
  }
  return { load };
}

/**
 * Whether PostgreSQL has refused a statement for what one row says (SQLSTATE classes 22 and 23), or has chosen it to
 * resolve a deadlock (40). Nothing of it was done then, so that each row can be tried alone. After any other failure,
 * such as a lost connection, that is not known.
 */
const wasUndone = (error: unknown) => /^(22|23|40)...$/.test((error as { code?: string }).code ?? '');

/** Calls of the result in one turn with the same arguments get the same promise, of a single call of `run`. */
export function oncePerTurn<Arguments extends unknown[], Result>(run: (...args: Arguments) => Promise<Result>) {
  const results = new Map<string, Promise<Result>>();
  return (...args: Arguments): Promise<Result> => {
    const key = JSON.stringify(args);
    const shared = results.get(key);
    if (shared) return shared;
    // Only then: a statement that has begun already does not see what has been acknowledged since.
    const result = endOfTurn().then(() => {
      results.delete(key);
      return run(...args);
    });
    results.set(key, result);
    return result;
  };
}
