import { coalesce } from '@rest-services/concurrency';
import type { Database } from '@rest-services/database';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { writeBuffer } from './write-buffer.ts';
import { REFUSED } from '../http/connections.ts';
import { onAborted } from '../http/on-aborted.ts';
import { forMachines } from './probes.ts';
import type { InexactBlocks } from './row-counts.ts';
import { version } from '../version.ts';

/** In seconds. From an answer without a query to the limit at which a request fails. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Observed {
  labels: { method: string; route: string; status: number | string };
  ms: number;
}

/**
 * `/metrics`, for Prometheus: the requests, the pool of database connections, the build, and the process.
 * @param service name of the service
 */
export function addMetrics<Tables>(
  app: FastifyInstance,
  db: Database<Tables>,
  service: string,
  inexactBlocks: InexactBlocks,
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
