import type { Database } from '@rest-services/database';
import type { RowCountState } from '../fold-row-counts.ts';
import { by, type AddMetric } from './collected-metrics.ts';
import type { Health } from './health.ts';
import type { TaskFailures } from './task-failures.ts';

export interface Measured<Tables> {
  /** Name of the service. */
  service: string;
  db: Database<Tables>;
  health: Health;
  rowCounts: RowCountState;
  taskFailures: TaskFailures;
}

/** Adds what the service knows of its database: connections, statements, migrations, rows. */
export function addDatabaseMetrics<Tables>(
  add: AddMetric,
  { db, health, rowCounts: { totals, openChanges, foldedAt }, taskFailures }: Measured<Tables>,
) {
  add('gauge', 'database_pool_connections', 'Connections by state, and requests that wait for one.', () => {
    const { inUse, idle, waiting } = db.poolUse;
    return by('state', Object.entries({ in_use: inUse, idle, waiting }));
  });
  add('gauge', 'database_pool_max_connections', 'Maximum of connections: DATABASE_POOL_MAX.', () => db.poolMax);
  add('histogram', 'database_pool_wait_seconds', 'Waits for a connection.', () => db.poolWaits);
  add(
    'histogram',
    'database_requests_per_statement',
    'Requests that shared a statement, by statement. Pages, lists and rows with a long text are not counted.',
    () => db.requestsPerStatement,
  );
  add('gauge', 'database_migrations', 'Migrations of this release by state: applied to the database, or pending.', () =>
    by('state', Object.entries(health.migrations ?? {})),
  );
  add('gauge', 'database_table_rows', 'Exact number of rows, from the row counts, as of the last ten seconds.', () =>
    by('table', totals),
  );
  add('gauge', 'database_read_only', 'Whether the database takes no writes, as of the last /readyz or scrape.', () =>
    Number(health.isReadOnly),
  );
  add(
    'counter',
    'database_connections_lost_total',
    'Connections that the database has ended, or on which it was silent.',
    () => db.lostConnections,
  );
  add(
    'gauge',
    'database_row_counts_open_changes',
    'Changes that are not folded into the row counts, up to 100,000, as of the last ten seconds: pages get slower with them.',
    () => by('table', openChanges),
  );
  add('gauge', 'database_row_counts_folded_timestamp_seconds', 'Time of the last fold that kept up.', () =>
    by('table', foldedAt),
  );
  add(
    'counter',
    'database_tasks_failed_total',
    'Failures of work for which no request waits: folds of row counts, deletions of expired idempotency keys.',
    () => by('task', taskFailures.counts),
  );
}
