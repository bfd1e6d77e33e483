import { setTimeout as sleep } from 'node:timers/promises';
import { Batcher } from '@rest-services/concurrency';
import type { Database } from '../connection/database.ts';
import { errorClass, errorCode, SQLSTATE, SQLSTATE_CLASS } from '../sqlstate.ts';
import { SHARED_MS } from '../time-budget.ts';

/**
 * Maximum number of requests that share one read. More gain little, and the service would have nothing to do while PostgreSQL works
 * for all connections at once.
 */
export const MAX_READS = 32;

/** Maximum number of requests that share one write: its commit costs as much for many rows as for one. */
export const MAX_WRITES = 64;

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
  protected readonly db: Database<unknown>;
  readonly #batcher: Batcher<Key, Result>;

  constructor(db: Database<unknown>, maxKeys: number) {
    this.db = db;
    this.#batcher = new Batcher((keys) => this.runBatch(keys), maxKeys);
  }

  /** @throws what `runShared` and `runAlone` throw */
  share(key: Key): Promise<Result> {
    return this.#batcher.submit(key);
  }

  /** @returns a result for each key, in their order */
  protected abstract runShared(keys: readonly Key[]): Promise<readonly (Result | typeof LEFT_OUT)[]>;

  /** @param deadline a time of `performance.now()`, at which it has ended */
  protected abstract runAlone(key: Key, deadline: number): Promise<Result>;

  private async runBatch(keys: readonly Key[]) {
    const deadline = performance.now() + SHARED_MS;
    this.db.requestsPerStatement.add(keys.length);
    const runAlone = (index: number) => this.runAlone(keys[index]!, deadline);
    try {
      const results = await this.runShared(keys);
      return results.map((result, index) => (result === LEFT_OUT ? runAlone(index) : result));
    } catch (error) {
      const isDeadlock = errorClass(error) === SQLSTATE_CLASS.TRANSACTION_ROLLBACK;
      if (!wasRolledBack(error) || (keys.length === 1 && !isDeadlock)) throw error;
      if (isDeadlock) await sleep(DEADLOCK_DELAY_MS);
      return keys.map((_, index) => runAlone(index));
    }
  }
}

/** Classes of errors that may concern one row: its values, or a deadlock. */
const ROW_ERRORS: string[] = [
  SQLSTATE_CLASS.DATA_EXCEPTION,
  SQLSTATE_CLASS.INTEGRITY_CONSTRAINT_VIOLATION,
  SQLSTATE_CLASS.TRANSACTION_ROLLBACK,
];

/** Whether PostgreSQL has certainly undone the statement. After a lost connection, for example, that is not known. */
const wasRolledBack = (error: unknown) =>
  ROW_ERRORS.includes(errorClass(error)) || errorCode(error) === SQLSTATE.LOCK_NOT_AVAILABLE;
