import type { Database, Distribution } from '@rest-services/database';
import { Counter, Gauge, type Metric, type Registry } from 'prom-client';
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
  new Gauge({
    name: 'database_pool_connections',
    help: 'Connections to the database by state, and requests that wait for one.',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      const use = db.poolUse;
      this.set({ state: 'in_use' }, use.inUse);
      this.set({ state: 'idle' }, use.idle);
      this.set({ state: 'waiting' }, use.waiting);
    },
  });

  new Gauge({
    name: 'database_sessions_abandoned',
    help: 'Connections whose statement did not end in time, and may be running still. Writes are refused when they are half.',
    registers: [registry],
    collect() {
      this.set(db.abandonedSessions);
    },
  });

  new Gauge({
    name: 'database_pool_max_connections',
    help: 'Maximum number of connections to the database: DATABASE_POOL_MAX.',
    registers: [registry],
  }).set(db.poolMax);

  registry.registerMetric(
    histogramOf(
      db.poolWaits,
      'database_pool_wait_seconds',
      'Time that statements and transactions waited for a connection.',
    ),
  );

  registry.registerMetric(
    histogramOf(
      db.requestsPerStatement,
      'database_requests_per_statement',
      'Requests that shared a statement, by statement. Pages, lists and single large rows are not counted.',
    ),
  );

  new Gauge({
    name: 'database_migrations',
    help: 'Migrations of this release by state: applied to the database, or pending.',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      if (!readiness.migrations) return;
      this.set({ state: 'applied' }, readiness.migrations.applied);
      this.set({ state: 'pending' }, readiness.migrations.pending);
    },
  });

  new Gauge({
    name: 'database_table_rows',
    help: 'Exact number of rows, from the row counts, as of the last ten seconds.',
    labelNames: ['table'] as const,
    registers: [registry],
    collect() {
      for (const [table, total] of totals) this.set({ table }, total);
    },
  });

  new Gauge({
    name: 'database_server_info',
    help: 'Server of DATABASE_URL that is in use, as label of a constant 1.',
    labelNames: ['server'] as const,
    registers: [registry],
    collect() {
      this.reset();
      this.set({ server: db.server }, 1);
    },
  });

  new Gauge({
    name: 'database_read_only',
    help: 'Whether the database takes no writes: 1 on a standby, or by default_transaction_read_only.',
    registers: [registry],
    collect() {
      this.set(db.health.isReadOnly ? 1 : 0);
    },
  });

  if (db.readsFromStandby !== undefined) {
    new Gauge({
      name: 'database_reads_from_standby',
      help: 'Whether GETs read from the standby of DATABASE_READ_URL: 0 while they read from the primary.',
      registers: [registry],
      collect() {
        this.set(db.readsFromStandby ? 1 : 0);
      },
    });
  }

  new Counter({
    name: 'database_connections_lost_total',
    help: 'Connections that the database has ended, or on which it did not respond in time.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(db.health.lostConnections);
    },
  });

  new Gauge({
    name: 'database_row_counts_inexact_blocks',
    help: 'Blocks of 16,384 ids whose row counts differ from the rows; "node main.js recount" mends them.',
    labelNames: ['table'] as const,
    registers: [registry],
    collect() {
      for (const [table, blocks] of inexactBlocks) this.set({ table }, blocks.size);
    },
  });

  new Gauge({
    name: 'database_row_counts_open_changes',
    help: 'Changes that are not folded into the row counts, up to 100,000, as of the last ten seconds: pages get slower with them.',
    labelNames: ['table'] as const,
    registers: [registry],
    collect() {
      for (const [table, changes] of openChanges) this.set({ table }, changes);
    },
  });

  new Gauge({
    name: 'database_row_counts_folded_timestamp_seconds',
    help: 'Time of the last fold that kept up with the changes.',
    labelNames: ['table'] as const,
    registers: [registry],
    collect() {
      for (const [table, time] of foldedAt) this.set({ table }, time);
    },
  });
}

/** A histogram of what others have counted: those of prom-client take a microsecond for each value. */
function histogramOf(distribution: Distribution, name: string, help: string) {
  const get = () => {
    let count = 0;
    const buckets = distribution.counts.map((value, index) => ({
      metricName: `${name}_bucket`,
      labels: { le: distribution.bounds[index] ?? '+Inf' },
      value: (count += value),
    }));
    const total = [
      { metricName: `${name}_sum`, labels: {}, value: distribution.sum },
      { metricName: `${name}_count`, labels: {}, value: count },
    ];
    return Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values: [...buckets, ...total] });
  };
  // The registry needs no more of a metric than its name and `get`.
  return { name, get } as unknown as Metric;
}
