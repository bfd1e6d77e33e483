import { coalesce } from '@rest-services/concurrency';
import { SHED_REASONS, TIMEOUT_REASONS, type OverloadReason } from '@rest-services/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { memoryLimit } from '../http/connection-limit.ts';
import { REFUSED } from '../http/connections.ts';
import { onAborted } from '../http/on-aborted.ts';
import { addDatabaseMetrics, type Measured } from './database-metrics.ts';
import { forMachines } from './probes.ts';
import { version } from '../version.ts';

/** In seconds. From an answer without a query to the limit at which a request fails. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface ServiceMeasured<Tables> extends Measured<Tables> {
  /** Name of the service. */
  service: string;
}

/**
 * `/metrics`, for Prometheus: the requests, the pool of database connections, the build, and the process. docker/metrics.md lists the
 * names.
 */
export function addMetrics<Tables>(app: FastifyInstance, measured: ServiceMeasured<Tables>) {
  const { service, readiness } = measured;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Gauges under names of counters, which promtool refuses. Each is the sum of one that stays, such as nodejs_active_handles.
  for (const kind of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${kind}_total`);

  // Its count by the same labels is the number of requests.
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of its answer, by route template.',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS,
    registers: [registry],
  });
  // Unknown paths share one label, because their number is unlimited.
  const observe = (
    { method, routeOptions }: FastifyRequest,
    { elapsedTime }: FastifyReply,
    status: number | 'aborted',
  ) => duration.observe({ method, route: routeOptions.url ?? 'none', status }, elapsedTime / 1_000);
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

  addDatabaseMetrics(registry, measured);

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
  const collect = coalesce(() => registry.metrics());
  app.get('/metrics', forMachines, async (_request, reply) => {
    void reply.type(registry.contentType);
    return collect();
  });
}
