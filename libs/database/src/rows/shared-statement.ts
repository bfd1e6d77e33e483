import { setTimeout as sleep } from 'node:timers/promises';
import { context, type Context } from '@opentelemetry/api';
import { beginBy, Batcher, Semaphore, sharedContext, withDeadline } from '@rest-services/concurrency';
import { overloaded } from '@rest-services/errors';
import type { Database } from '../connection/database.ts';
import { errorClass, errorCode, SQLSTATE, SQLSTATE_CLASS } from '../sqlstate.ts';
import { SHARED_MS, WRITE_MS } from '../time-budget.ts';

/**
 * Maximum number of requests that share one read. More gain little, and the service would have nothing to do while PostgreSQL works
 * for all connections at once.
 */
export const MAX_READS = 32;

/** Maximum number of requests that share one write: its commit costs as much for many rows as for one. */
export const MAX_WRITES = 64;

/** Delay before the victim of a deadlock retries, so that the other transactions can finish. */
const DEADLOCK_DELAY_MS = 50;

/** The result of a key that the shared statement could not process: it gets a statement of its own. */
export const RETRY_ALONE = Symbol('retry alone');

/**
 * Makes calls in one event-loop turn, or while statements are in flight, share one statement, which costs little more than a
 * statement for one of them. Nothing is cached: each call gets what was committed when its statement began. After a failure that may
 * concern a single key, each key is retried alone.
 * @param db counts the calls of each statement
 * @param run returns a result for each key, in their order
 * @param runAlone runs the statement of one key until `deadline`, a time of `performance.now()`
 * @returns a function that throws what `run` and `runAlone` throw
 */
export function shareStatements<Key, Result>(
  { requestsPerStatement }: Pick<Database<unknown>, 'requestsPerStatement'>,
  run: (keys: readonly Key[]) => Promise<(Result | typeof RETRY_ALONE)[]>,
  maxKeys = MAX_READS,
  runAlone = async (key: Key, deadline: number) => (await withDeadline(deadline, run([key]), timedOut))[0] as Result,
) {
  async function runBatch(keys: readonly Key[], callers: readonly Context[]) {
    const deadline = performance.now() + SHARED_MS;
    requestsPerStatement.add(keys.length);
    const runAloneAt = (index: number) => context.with(callers[index]!, () => runAlone(keys[index]!, deadline));
    try {
      const results = await context.with(sharedContext(callers), () => run(keys));
      return results.map((result, index) => (result === RETRY_ALONE ? runAloneAt(index) : result));
    } catch (error) {
      const isDeadlock = errorClass(error) === SQLSTATE_CLASS.TRANSACTION_ROLLBACK;
      if (!wasRolledBack(error) || (keys.length === 1 && !isDeadlock)) throw error;
      if (isDeadlock) await sleep(DEADLOCK_DELAY_MS);
      return keys.map((_, index) => runAloneAt(index));
    }
  }
  const batcher = new Batcher(runBatch, maxKeys);
  return (key: Key) => batcher.load(key);
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

/** The statement may have taken effect. */
const timedOut = () =>
  Object.assign(new Error('The server did not respond in time; whether the statement took effect is not known'), {
    code: 'ETIMEDOUT',
  });

export const turnMissed = () => overloaded('turn');
export const statementLate = () => overloaded('statement');

/** Runs a read that waits for its turn. @throws OverloadedError at the deadline */
export const readInTurn = <Result>(
  deadline: number,
  takeTurn: (work: () => Promise<Result>) => Promise<Result>,
  work: () => Promise<Result>,
) => beginBy({ begin: deadline, onNotBegun: turnMissed, end: deadline, onNotEnded: statementLate }, takeTurn, work);

/**
 * Runs a write that waits for its turn; one whose turn comes at once begins even late.
 * @throws OverloadedError when its turn comes too late to end by the deadline, Error ETIMEDOUT when it has not ended at the deadline
 */
export const writeInTurn = <Result>(
  deadline: number,
  takeTurn: (work: () => Promise<Result>) => Promise<Result>,
  work: () => Promise<Result>,
) =>
  beginBy({ begin: deadline - WRITE_MS, onNotBegun: turnMissed, end: deadline, onNotEnded: timedOut }, takeTurn, work);

/** Maximum number of changes of one row in flight: 50 % more changes per second than one at a time. */
const CHANGES_PER_ROW = 2;

/** Maximum number of changes of one row that wait. More would wait longer than a request may take. */
const MAX_WAITING = 100;

/**
 * Makes changes of one row wait for each other here. In the database, each would hold a connection while it waits.
 * @param lockWaits limits the changes of all rows that may wait for a lock
 * @returns a function that throws an OverloadedError when too many changes wait, or when its turn comes too late for its deadline
 */
export function limitConcurrencyPerRow<Change extends { id: number }>(
  change: (change: Change) => Promise<boolean>,
  lockWaits: Semaphore,
) {
  const semaphores = new Map<number, Semaphore>();
  return async (requested: Change, givenDeadline?: number) => {
    const { id } = requested;
    const row = semaphores.get(id) ?? new Semaphore(CHANGES_PER_ROW);
    semaphores.set(id, row);
    if (row.waiting >= MAX_WAITING) throw overloaded('row_queue');
    const mustWait = row.isFull || lockWaits.isFull;
    const takeTurn = async (work: () => Promise<boolean>) => {
      try {
        return await row.run(() => lockWaits.run(work));
      } finally {
        if (row.isIdle) semaphores.delete(id);
      }
    };
    // Without a wait, the statement has its own timeout.
    if (!mustWait && givenDeadline === undefined) return takeTurn(() => change(requested));
    return writeInTurn(givenDeadline ?? performance.now() + SHARED_MS, takeTurn, () => change(requested));
  };
}
