import { coalesce } from '@rest-services/concurrency';
import type { Database, Distribution } from '@rest-services/database';
import { SHED_REASONS, TIMEOUT_REASONS, type OverloadReason } from '@rest-services/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, type Metric } from 'prom-client';
import { writeBuffer } from './write-buffer.ts';
import { memoryLimit } from '../http/connection-limit.ts';
import { REFUSED } from '../http/connections.ts';
import { onAborted } from '../http/on-aborted.ts';
import { forMachines, type Readiness } from './probes.ts';
import type { RowCountState } from './row-counts.ts';
import { version } from '../version.ts';

/** In seconds. From an answer without a query to the limit at which a request fails. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Observed {
  labels: { method: string; route: string; status: number | string };
  ms: number;
}

interface Measured<Tables> {
  db: Database<Tables>;
  /** Name of the service. */
  service: string;
  readiness: Readiness;
  rowCounts: RowCountState;
}

/**
 * `/metrics`, for Prometheus: the requests, the pool of database connections, the build, and the process. docker/README.md lists the
 * names.
 */
export function addMetrics<Tables>(
  app: FastifyInstance,
  { db, service, readiness, rowCounts: { inexactBlocks, totals } }: Measured<Tables>,
) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Gauges under names of counters, which promtool refuses. Each is the sum of one that stays, such as nodejs_active_handles.
  for (const kind of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${kind}_total`);

  // Its count by the same labels is the number of requests.
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of its answer, by route template.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: DURATION_BUCKETS,
    registers: [registry],
  });
  // Unknown paths share one label, because their number is unlimited.
  const observed = writeBuffer<Observed>((requests) => {
    for (const { labels, ms } of requests) duration.observe(labels, ms / 1_000);
  });
  const observe = ({ method, routeOptions }: FastifyRequest, { elapsedTime }: FastifyReply, status: number | string) =>
    observed.add({ labels: { method, route: routeOptions.url ?? 'none', status }, ms: elapsedTime });
  app.addHook('onResponse', (request, reply, done) => {
    observe(request, reply, reply.statusCode);
    done();
  });
  onAborted(app, (request, reply) => observe(request, reply, 'aborted'));

  const refused = new Counter({
    name: 'http_refused_total',
    help: 'Requests that were not valid HTTP or did not arrive in time, by the status of the response.',
    labelNames: ['status'] as const,
    registers: [registry],
  });
  app.server.on(REFUSED, (status: number) => refused.inc({ status }));

  // Each reason has a 0 from the start. Otherwise, Prometheus would not see the first increase.
  const countOverloads = (name: string, help: string, reasons: readonly OverloadReason[]) =>
    new Counter({
      name,
      help,
      labelNames: ['reason'] as const,
      registers: [registry],
      collect() {
        this.reset();
        for (const reason of reasons) this.inc({ reason }, app.overloads.get(reason) ?? 0);
      },
    });
  countOverloads(
    'http_requests_shed_total',
    'Requests that got 503 at once, before any work, by what was full.',
    SHED_REASONS,
  );
  countOverloads(
    'http_requests_timed_out_total',
    'Requests that ran out of time and got 503, or 500 from a silent server, by what they waited for.',
    TIMEOUT_REASONS,
  );

  const dropped = new Counter({
    name: 'http_connections_dropped_total',
    help: 'Connections that were closed at once, because as many were open as may be.',
    registers: [registry],
  });
  app.server.on('drop', () => dropped.inc());

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
      this.set(db.isReadOnly ? 1 : 0);
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
      this.inc(db.lostConnections);
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

  // The label keeps it absent until it is known: a gauge without labels starts at 0.
  new Gauge({
    name: 'service_ready',
    help: 'Whether the service should get traffic, as of the last /readyz or scrape.',
    labelNames: ['service'] as const,
    registers: [registry],
    collect() {
      if (readiness.isReady !== undefined) this.set({ service }, readiness.isReady ? 1 : 0);
      readiness.check();
    },
  });

  new Gauge({
    name: 'service_memory_limit_bytes',
    help: 'Memory of the container, or of the machine where that is less.',
    registers: [registry],
  }).set(memoryLimit());

  // Prometheus has no metric for texts: by convention they are labels of a 1. The image sets the variable.
  new Gauge({
    name: 'service_build_info',
    help: 'Service, version, commit and Node.js version, as labels of a constant 1.',
    labelNames: ['service', 'version', 'revision', 'node_version'] as const,
    registers: [registry],
  }).set(
    {
      service,
      version,
      revision: process.env.SERVICE_REVISION || 'unknown',
      node_version: process.version,
    },
    1,
  );

  // One takes some milliseconds of CPU, and overload protection does not apply here.
  const metrics = coalesce(() => {
    observed.flush();
    return registry.metrics();
  });
  app.get('/metrics', forMachines, async (_request, reply) => {
    void reply.type(registry.contentType);
    return metrics();
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
