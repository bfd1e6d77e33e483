import type { FastifyBaseLogger } from 'fastify';

/** Work for which no request waits. */
export type Task = 'fold_row_counts' | 'delete_expired_keys';

/** Interval between two log lines of a task that fails each second of an outage. */
const LOG_INTERVAL_MS = 60_000;

/** Counts and logs failures of tasks. */
export class TaskFailures {
  readonly counts = new Map<Task, number>([
    ['fold_row_counts', 0],
    ['delete_expired_keys', 0],
  ]);
  readonly #loggedAt = new Map<Task, number>();

  report(task: Task, error: unknown, log: FastifyBaseLogger) {
    this.counts.set(task, this.counts.get(task)! + 1);
    const now = performance.now();
    if (now - (this.#loggedAt.get(task) ?? -Infinity) < LOG_INTERVAL_MS) return;
    this.#loggedAt.set(task, now);
    log.error({ err: error, task }, 'Background task failed');
  }
}
