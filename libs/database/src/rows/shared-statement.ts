import { setTimeout as sleep } from 'node:timers/promises';
import { Batcher } from '@rest-services/concurrency';
import { errorClass, errorCode, SQLSTATE, SQLSTATE_CLASS } from '@rest-services/errors';
import { SHARED_MS } from '../time-budget.ts';
import type { AnyDatabase } from './row.ts';

/**
 * Maximum number of requests that share one statement. More reads gain little, and the service would have nothing to do while PostgreSQL
 * works for all connections at once. The commit of a write costs as much for many rows as for one.
 */
const MAX_KEYS = { read: 32, write: 64 };

/** Delay before the victim of a deadlock retries, so that the other transactions can finish. */
const DEADLOCK_DELAY_MS = 50;

/** The result of a key that the shared statement left out: it gets a statement of its own. */
export const LEFT_OUT: unique symbol = Symbol('left out');

/**
 * A statement that serves all calls of one iteration of the event loop, or of the time while others are in flight; it costs little more
 * than one for a single call. Nothing is cached: each call gets what was committed when its statement began. After a failure that may concern
 * a single key, and for keys that it leaves out, each key is run alone.
 */
export abstract class SharedStatement<Key, Result> {
  protected readonly db: AnyDatabase;
  readonly #kind: keyof typeof MAX_KEYS;
  readonly #batcher: Batcher<Key, Result>;

  constructor(db: AnyDatabase, kind: keyof typeof MAX_KEYS) {
    this.db = db;
    this.#kind = kind;
    this.#batcher = new Batcher((keys) => this.#runBatch(keys), MAX_KEYS[kind]);
  }

  /** @throws what `runShared` and `runAlone` throw */
  share(key: Key): Promise<Result> {
    return this.#batcher.submit(key);
  }

  /** Runs a key alone; as the victim of a deadlock, once more within its time. */
  async alone(key: Key, deadline = performance.now() + SHARED_MS): Promise<Result> {
    try {
      return await this.runAlone(key, deadline);
    } catch (error) {
      if (!isDeadlock(error)) throw error;
      await sleep(DEADLOCK_DELAY_MS);
      if (performance.now() > deadline) throw error;
      return this.runAlone(key, deadline);
    }
  }

  /** Keys of one identity are not shared, such as changes of one row: all but the first are run alone. */
  protected identityOf(key: Key): unknown {
    return key;
  }

  /**
   * @param keys of different identities
   * @returns a result for each key, in their order
   */
  protected abstract runShared(keys: readonly Key[]): Promise<readonly (Result | typeof LEFT_OUT)[]>;

  /** @param deadline a time of `performance.now()`, at which it has ended */
  protected abstract runAlone(key: Key, deadline: number): Promise<Result>;

  async #runBatch(keys: readonly Key[]) {
    const deadline = performance.now() + SHARED_MS;
    this.db.requestsPerStatement.add(keys.length);
    const alone = (key: Key) => this.alone(key, deadline);
    // The statement that writes one row is simpler than the shared one.
    if (keys.length === 1 && this.#kind === 'write' && !this.db.lockWaits.isFull) return [await alone(keys[0]!)];
    try {
      // Of several entries with one key, a map keeps the last.
      const firsts = [...new Map(keys.toReversed().map((key) => [this.identityOf(key), key])).values()];
      const shared = await this.runShared(firsts);
      const results = new Map<Key, Result | typeof LEFT_OUT>(firsts.map((key, index) => [key, shared[index]!]));
      return keys.map((key) => {
        const result = results.has(key) ? (results.get(key) as Result | typeof LEFT_OUT) : LEFT_OUT;
        return result === LEFT_OUT ? alone(key) : result;
      });
    } catch (error) {
      if (!isUndone(error)) throw error;
      if (isDeadlock(error)) await sleep(DEADLOCK_DELAY_MS);
      return keys.map(alone);
    }
  }
}

/** Whether PostgreSQL has undone a statement to end a deadlock, or a conflict of transactions. */
const isDeadlock = (error: unknown) =>
  [SQLSTATE.DEADLOCK_DETECTED, SQLSTATE.SERIALIZATION_FAILURE].some((code) => code === errorCode(error));

/**
 * Whether PostgreSQL has certainly undone the statement, because of one of its rows. After a lost connection, for example, that is not
 * known.
 */
const isUndone = (error: unknown) =>
  isDeadlock(error) ||
  Object.values<string>(SQLSTATE_CLASS).includes(errorClass(error)) ||
  errorCode(error) === SQLSTATE.LOCK_NOT_AVAILABLE;
