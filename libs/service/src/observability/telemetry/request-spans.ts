import { context, SpanStatusCode, trace, TraceFlags, type Span } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { onAborted } from '../../http/on-aborted.ts';
import { clientAddress } from '../../http/proxies.ts';
import type { Settings } from '../../settings.ts';
import { loadTelemetry } from './load-telemetry.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Span of the request; `null` without telemetry, and for probes. */
    span: Span | null;
  }
}

/** Makes a span of each request, by the semantic conventions for HTTP, where telemetry is used. */
export async function traceRequests(app: FastifyInstance, settings: Settings) {
  app.decorateRequest('span', null);
  const telemetry = await loadTelemetry(settings);
  if (!telemetry) return;
  // Before the hook of the plugin, which ends the span.
  app.addHook('onResponse', ({ span }, { statusCode }, done) => {
    if (span && statusCode >= 500) setError(span, String(statusCode));
    done();
  });
  await app.register(telemetry.requestSpans(describeSpan));
  // The events of a body have the context of the connection, where statements would find no span.
  app.addHook('preValidation', ({ span }, _reply, done) => {
    if (span === null || trace.getActiveSpan() === span) done();
    else context.with(trace.setSpan(context.active(), span), done);
  });
  onAborted(app, ({ span }) => {
    if (!span) return;
    setError(span, 'aborted');
    span.end();
  });
}

function describeSpan(span: Span, request: FastifyRequest) {
  request.span = span;
  if (!span.isRecording()) return;
  const { method, url, routeOptions, protocol, hostname, port, ip, headers, raw } = request;
  const [, path = url, query] = /^([^?]*)\??(.*)$/s.exec(url) ?? [];
  span.updateName(routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`);
  span.setAttributes({
    'url.path': path,
    ...(query ? { 'url.query': query } : {}),
    'url.scheme': protocol,
    'server.address': hostname,
    ...(port === null ? {} : { 'server.port': port }),
    'client.address': clientAddress(ip),
    'user_agent.original': headers['user-agent'],
    'network.protocol.version': raw.httpVersion,
  });
}

function setError(span: Span, type: string) {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Fields of a log line inside a traced request. A mixin of the log adds them, because a logger per request costs more. */
export function activeTraceIds() {
  const span = trace.getActiveSpan();
  return span ? traceIds(span) : {};
}

/** Ids of the trace and the span of a request, as log lines and exemplars have them. */
export function traceIds(span: Span) {
  const { traceId, spanId } = span.spanContext();
  return { trace_id: traceId, span_id: spanId };
}

/** Whether a span is exported, which it may have been already. */
export const isSampled = (span: Span | null): span is Span =>
  span !== null && (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
