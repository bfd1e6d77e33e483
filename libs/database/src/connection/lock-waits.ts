import { Semaphore, withDeadline } from '@rest-services/concurrency';
import { OverloadedError } from '@rest-services/errors';
import { SHARED_MS, RESPONSE_MS } from '../time-budget.ts';
import { noResponse } from './errors.ts';

/** Maximum number of changes of one row in flight: 50 % more changes per second than one at a time. */
const CHANGES_PER_ROW = 2;

/** Maximum number of changes of one row that wait. More would wait longer than a request may take. */
const MAX_WAITING = 100;

/**
 * Writes that may wait for a lock in the database, each with a connection. All of them together have half of the connections, and
 * those of one row two; the others wait here.
 */
export class LockWaits {
  readonly #all: Semaphore;
  readonly #rows = new Map<string, Semaphore>();

  /** @param poolMax number of connections */
  constructor(poolMax: number) {
    this.#all = new Semaphore(Math.ceil(poolMax / 2));
  }

  /** Whether another write would wait here. */
  get isFull() {
    return this.#all.isFull;
  }

  /**
   * Runs a write when its turn has come; one whose turn comes at once runs even late.
   * @param write gets the deadline
   * @param deadline a time of `performance.now()`
   * @param row what the write changes, where it is one row
   * @throws OverloadedError when too many changes of the row wait, or its turn comes too late to end by the deadline; Error ETIMEDOUT
   * when it has not ended at the deadline
   */
  runInTurn<Result>(
    write: (deadline: number) => Promise<Result>,
    row?: string,
    deadline = performance.now() + SHARED_MS,
  ): Promise<Result> {
    return withDeadline(
      deadline,
      this.#inTurn(() => write(deadline), row, deadline - RESPONSE_MS),
      noResponse,
    );
  }

  async #inTurn<Result>(write: () => Promise<Result>, row: string | undefined, deadline: number) {
    const patience = { deadline, onLate: () => new OverloadedError('turn') };
    const inTurnOfAll = () => this.#all.run(write, patience);
    if (row === undefined) return inTurnOfAll();
    const semaphore = this.#rows.get(row) ?? new Semaphore(CHANGES_PER_ROW);
    if (semaphore.waiting >= MAX_WAITING) throw new OverloadedError('row_queue');
    this.#rows.set(row, semaphore);
    try {
      return await semaphore.run(inTurnOfAll, patience);
    } finally {
      if (semaphore.isIdle) this.#rows.delete(row);
    }
  }
}
