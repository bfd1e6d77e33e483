import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';
import { overloaded } from '@rest-services/errors';
import DataLoader from 'dataloader';
import { batchSchedule } from './batch-schedule.ts';
import { codeOf } from './connection.ts';
import { places, type Places } from './places.ts';

// Requests that arrive in the same turn of the event loop, or while others are under way, share one statement, which costs
// little more than a statement for one of them. Nothing is kept: each request gets what was committed when its statement began.

/**
 * Requests that share one statement at most. More would gain little, and while PostgreSQL is busy with the requests of
 * all connections at once, the service would have nothing to do.
 */
export const MAX_READS = 32;

/** The same for writes: a commit, and the triggers that count rows, cost as much for many rows as for one. */
export const MAX_WRITES = 64;

/** For a shared statement and one of its own after it, or two of a search, with their waits for connections. A request may take 3 s. */
export const LIMIT_MS = 2_500;

/** Time left for the statement of a write. PostgreSQL cancels it after 1.4 s; with less time, its outcome would be unknown. */
const STATEMENT_MS = 1_500;

/** So long the victim of a deadlock waits before it tries again, so that the others can finish. */
const DEADLOCK_PAUSE_MS = 50;

/** Stands for a result that the shared statement could not give: its key gets a statement of its own. */
export const RUN_ALONE = Symbol('to be run alone');

/**
 * Calls of the result that come together, as `batchSchedule` has it, are answered by one call of `run`. What fails for a
 * reason that may be that of a single key is tried again for each key by itself.
 * @param run answers what belongs to each key, in the order of the keys; for several, it may leave some `RUN_ALONE`
 * @param runAlone answers what belongs to one key, until `deadline`, a time of `performance.now()`
 * @returns a function that answers what belongs to a key, and fails as `run` and `runAlone` do
 */
export function batching<Key, Result>(
  run: (keys: readonly Key[]) => Promise<(Result | typeof RUN_ALONE)[]>,
  maxBatchSize = MAX_READS,
  runAlone = async (key: Key, deadline: number) => (await withDeadline(deadline, run([key]), timedOut))[0] as Result,
) {
  async function runShared(keys: readonly Key[]) {
    const deadline = performance.now() + LIMIT_MS;
    try {
      const results = await run(keys);
      return results.map((result, index) => (result === RUN_ALONE ? runAlone(keys[index]!, deadline) : result));
    } catch (error) {
      if (!wasUndone(error) || (keys.length === 1 && !wasDeadlock(error))) throw error;
      if (wasDeadlock(error)) await sleep(DEADLOCK_PAUSE_MS);
      return keys.map((key) => runAlone(key, deadline));
    }
  }
  const { add, schedule, run: runOnSchedule } = batchSchedule();
  const loader = new DataLoader((keys: readonly Key[]) => runOnSchedule(keys.length, () => runShared(keys)), {
    cache: false,
    maxBatchSize,
    batchScheduleFn: schedule,
  });
  return (key: Key) => {
    add();
    return loader.load(key) as Promise<Result>;
  };
}

/**
 * Whether PostgreSQL has refused a statement for what one row says (SQLSTATE classes 22 and 23), has chosen it to
 * resolve a deadlock (40), or has waited for a lock as long as several may (55P03). Nothing of it was done then, so that
 * each row can be tried alone. After any other failure, such as a lost connection, that is not known.
 */
const wasUndone = (error: unknown) => /^((22|23|40)...|55P03)$/.test(codeOf(error));

/** Whether it says nothing about the row itself: the same statement may succeed now that others have gone on. */
const wasDeadlock = (error: unknown) => codeOf(error).startsWith('40');

/** What was under way may have taken effect. */
export const timedOut = () =>
  Object.assign(new Error('No answer in time; whether it takes effect is not known'), { code: 'ETIMEDOUT' });

/** @throws Error `onTimeout()` at the time `deadline`, of `performance.now()`; `work` then goes on with nobody waiting for it */
export async function withDeadline<Result>(deadline: number, work: Promise<Result>, onTimeout: () => Error) {
  const over = new AbortController();
  const limitMs = Math.max(1, deadline - performance.now());
  const timeout = sleep(limitMs, undefined, { signal: over.signal }).then(() => {
    throw onTimeout();
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    over.abort();
  }
}

interface Limits {
  /** Time before the deadline that is left for work whose turn comes last. */
  reserveMs: number;
  /** The error of work that has begun and not ended at the deadline. */
  begunTooLate: () => Error;
}

/** For work that changes nothing, so that there is no harm in another try. */
export const READ: Limits = { reserveMs: 0, begunTooLate: overloaded };

const WRITE: Limits = { reserveMs: STATEMENT_MS, begunTooLate: timedOut };

/**
 * Runs `work` when `takeTurn` calls it. One flag decides whether it begins or is refused, because a timer may fire up to a
 * millisecond before the clock shows its time.
 * @param deadline a time of `performance.now()`; work whose turn comes at once begins even after it
 * @throws HttpError 503 when the turn has not come in time; the work never begins then
 */
export async function inTurn<Result>(
  deadline: number,
  takeTurn: (begin: () => Promise<Result>) => Promise<Result>,
  work: () => Promise<Result>,
  { reserveMs, begunTooLate } = WRITE,
) {
  let isRefused = false;
  const begun = Promise.withResolvers<undefined>();
  const result = takeTurn(async () => {
    if (isRefused) throw overloaded();
    begun.resolve(undefined);
    return work();
  });
  await withDeadline(deadline - reserveMs, Promise.race([begun.promise, result]), () => {
    isRefused = true;
    return overloaded();
  });
  return withDeadline(deadline, result, begunTooLate);
}

/** While one is written to disk, the next is on its way: measured, 50 % more changes of a row per second than one at a time. */
const CHANGES_AT_ONCE = 2;

/** So many changes of one row may wait; more would wait longer than they may. */
const MAX_WAITING = 100;

/**
 * Changes of one row wait for each other here, and so do changes of locked rows. In the database, each would wait in a
 * connection: as soon as there are as many, nobody else would have one.
 * @param all places for all that may wait for a lock of somebody else
 * @returns `change`, which throws an HttpError 503 when too many wait already, or when its turn comes so late that there is no time
 * left for its statement before `deadline`, and an Error ETIMEDOUT when it has begun and is not over by then
 */
export function limitedPerRow<Change extends { id: number }>(
  change: (change: Change) => Promise<boolean>,
  all: Places,
) {
  const rows = new Map<number, Places>();
  return async (asked: Change, givenDeadline?: number) => {
    const row = rows.get(asked.id) ?? places(CHANGES_AT_ONCE);
    rows.set(asked.id, row);
    if (row.queue() >= MAX_WAITING) throw overloaded();
    const mustWait = row.isFull() || all.isFull();
    const takeTurn = async (begin: () => Promise<boolean>) => {
      try {
        return await row.use(() => all.use(begin));
      } finally {
        if (row.isEmpty()) rows.delete(asked.id);
      }
    };
    // It has the whole time for itself, which its statement has a limit for.
    if (!mustWait && givenDeadline === undefined) return takeTurn(() => change(asked));
    return inTurn(givenDeadline ?? performance.now() + LIMIT_MS, takeTurn, () => change(asked));
  };
}

/**
 * Calls of the result in one turn with the same arguments get the same promise, of a single call of `run`.
 * @param run gets arguments that JSON can tell apart
 */
export function coalesced<Arguments extends unknown[], Result>(run: (...args: Arguments) => Promise<Result>) {
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
