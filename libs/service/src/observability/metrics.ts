import { totalmem } from 'node:os';
import { coalesce } from '@rest-services/concurrency';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { version } from '../version.ts';
import { by, collectedMetrics } from './collected-metrics.ts';
import { addDatabaseMetrics, type Measured } from './database-metrics.ts';
import { addHttpMetrics } from './http-metrics.ts';
import { forMachines } from './health.ts';

/**
 * `/metrics`, for Prometheus: the requests, the pool of database connections, the build, and the process. docker/metrics.md lists the
 * names.
 */
export function addMetrics<Tables>(app: FastifyInstance, measured: Measured<Tables>) {
  const { service, health } = measured;
  const registry = new Registry();
  const add = collectedMetrics(registry);

  collectDefaultMetrics({ register: registry });
  // Gauges under names of counters, which promtool refuses. Each is the sum of one that stays, such as nodejs_active_handles.
  for (const kind of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  addHttpMetrics(app, registry, add);
  addDatabaseMetrics(add, measured);

  add('gauge', 'service_ready', 'Whether the service should get traffic, as of the last /readyz or scrape.', () => {
    const { isReady } = health;
    health.check();
    return isReady === undefined ? [] : by('service', [[service, Number(isReady)]]);
  });
  add('gauge', 'service_memory_limit_bytes', 'Memory of the container, or of the machine where that is less.', () =>
    // Node.js returns 0 where it knows of no limit.
    Math.min(process.constrainedMemory() || Infinity, totalmem()),
  );
  // Prometheus has no metric for texts: by convention they are labels of a 1. The image sets the variable.
  const revision = process.env.SERVICE_REVISION || 'unknown';
  const build = { service, version, revision, node_version: process.version };
  add('gauge', 'service_build_info', 'Service, version, commit and Node.js version, as labels of a constant 1.', () => [
    { labels: build, value: 1 },
  ]);

  // One takes some milliseconds of CPU, and overload protection does not apply here.
  const collect = coalesce(() => registry.metrics());
  app.get('/metrics', forMachines, async (_request, reply) => {
    void reply.type(registry.contentType);
    return collect();
  });
}
