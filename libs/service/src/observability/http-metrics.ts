import { SHED_REASONS, TIMEOUT_REASONS, type OverloadReason } from '@rest-services/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Histogram, type Registry } from 'prom-client';
import { REFUSED } from '../http/connections/client-errors.ts';
import { by, type AddMetric } from './collected-metrics.ts';

/** In seconds. From an answer without a query to the limit at which a request fails. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Adds the metrics of requests by route, of refusals and of dropped connections. */
export function addHttpMetrics(app: FastifyInstance, registry: Registry, add: AddMetric) {
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
  app.abortListeners.push((request, reply) => observe(request, reply, 'aborted'));

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

  // Each reason has a 0 from the start. Otherwise, Prometheus would not see the first increase.
  const numbersOf = (reasons: readonly OverloadReason[]) => () =>
    by('reason', new Map(reasons.map((reason) => [reason, app.overloads.get(reason) ?? 0])));
  add(
    'counter',
    'http_requests_shed_total',
    'Requests that got 503 at once, before any work, by what was full.',
    numbersOf(SHED_REASONS),
  );
  add(
    'counter',
    'http_requests_timed_out_total',
    'Requests that ran out of time and got 503, or 500 from a silent server, by what they waited for.',
    numbersOf(TIMEOUT_REASONS),
  );
}
