import type { Database, Distribution } from '@rest-services/database';
import type { Registry } from 'prom-client';
import { by, collectedMetric, distributed, single } from './collected-metric.ts';
import type { Readiness } from './probes.ts';
import type { RowCountState } from './row-counts.ts';

export interface Measured<Tables> {
  db: Database<Tables>;
  readiness: Readiness;
  rowCounts: RowCountState;
}

/** Adds what the service knows of its database: connections, statements, migrations, rows. */
export function addDatabaseMetrics<Tables>(
  registry: Registry,
  { db, readiness, rowCounts: { inexactBlocks, totals, openChanges, foldedAt } }: Measured<Tables>,
) {
  const add = (...metric: Parameters<typeof collectedMetric>) => registry.registerMetric(collectedMetric(...metric));
  const addHistogram = (name: string, help: string, distribution: Distribution) =>
    add('histogram', name, help, () => distributed(name, distribution));

  add(
    'gauge',
    'database_pool_connections',
    'Connections to the database by state, and requests that wait for one.',
    () => {
      const { inUse, idle, waiting } = db.poolUse;
      return by('state', Object.entries({ in_use: inUse, idle, waiting }));
    },
  );
  add(
    'gauge',
    'database_sessions_abandoned',
    'Connections whose statement did not end in time, and may be running still. Writes are refused when they are half.',
    () => single(db.abandonedSessions),
  );
  add(
    'gauge',
    'database_pool_max_connections',
    'Maximum number of connections to the database: DATABASE_POOL_MAX.',
    () => single(db.poolMax),
  );
  addHistogram(
    'database_pool_wait_seconds',
    'Time that statements and transactions waited for a connection.',
    db.poolWaits,
  );
  addHistogram(
    'database_requests_per_statement',
    'Requests that shared a statement, by statement. Pages, lists and single large rows are not counted.',
    db.requestsPerStatement,
  );
  add('gauge', 'database_migrations', 'Migrations of this release by state: applied to the database, or pending.', () =>
    by('state', Object.entries(readiness.migrations ?? {})),
  );
  add('gauge', 'database_table_rows', 'Exact number of rows, from the row counts, as of the last ten seconds.', () =>
    by('table', totals),
  );
  add('gauge', 'database_server_info', 'Server of DATABASE_URL that is in use, as label of a constant 1.', () =>
    by('server', [[db.server, 1]]),
  );
  add(
    'gauge',
    'database_read_only',
    'Whether the database takes no writes: 1 on a standby, or by default_transaction_read_only.',
    () => single(Number(db.health.isReadOnly)),
  );
  if (db.readsFromStandby !== undefined) {
    add(
      'gauge',
      'database_reads_from_standby',
      'Whether GETs read from the standby of DATABASE_READ_URL: 0 while they read from the primary.',
      () => single(Number(db.readsFromStandby)),
    );
  }
  add(
    'counter',
    'database_connections_lost_total',
    'Connections that the database has ended, or on which it did not respond in time.',
    () => single(db.health.lostConnections),
  );
  add(
    'gauge',
    'database_row_counts_inexact_blocks',
    'Blocks of 16,384 ids whose row counts differ from the rows; "node main.js recount" mends them.',
    () =>
      by(
        'table',
        [...inexactBlocks].map(([table, blocks]) => [table, blocks.size] as const),
      ),
  );
  add(
    'gauge',
    'database_row_counts_open_changes',
    'Changes that are not folded into the row counts, up to 100,000, as of the last ten seconds: pages get slower with them.',
    () => by('table', openChanges),
  );
  add(
    'gauge',
    'database_row_counts_folded_timestamp_seconds',
    'Time of the last fold that kept up with the changes.',
    () => by('table', foldedAt),
  );
}
