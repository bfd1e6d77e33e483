import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Span } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { clientAddress } from '../../http/headers/proxies.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Span of the request; `null` without traces, and for probes. */
    span: Span | null;
  }
}

/** Makes a span of each request, by the semantic conventions for HTTP, where traces are exported. */
export const requestSpans = fp<{ isTraced: boolean }>(
  (app, { isTraced }, done) => {
    app.decorateRequest('span', null);
    if (isTraced) traceRequests(app);
    done();
  },
  { name: 'request spans', dependencies: ['connections'] },
);

function traceRequests(app: FastifyInstance) {
  app.addHook('onRequest', (request, _reply, next) => {
    const { method, headers, routeOptions } = request;
    if (routeOptions.config.isForMachines) {
      next();
      return;
    }
    const name = routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`;
    const parent = propagation.extract(ROOT_CONTEXT, headers);
    const span = trace.getTracer('@rest-services/service').startSpan(name, { kind: SpanKind.SERVER }, parent);
    if (span.isRecording()) span.setAttributes(attributesOf(request));
    request.span = span;
    context.with(trace.setSpan(parent, span), next);
  });
  app.addHook('onResponse', ({ span }, { statusCode }, done) => {
    span?.setAttribute('http.response.status_code', statusCode);
    if (span && statusCode >= 500) setError(span, String(statusCode));
    span?.end();
    done();
  });
  app.abortListeners.push(({ span }) => {
    if (!span) return;
    setError(span, 'aborted');
    span.end();
  });
}

/** The query is not among them, because it may hold what a client searches for. */
function attributesOf({ method, url, routeOptions, protocol, hostname, port, ip, headers, raw }: FastifyRequest) {
  return {
    'http.request.method': method,
    'http.route': routeOptions.url,
    'url.path': url.replace(/\?.*/s, ''),
    'url.scheme': protocol,
    'server.address': hostname,
    'server.port': port ?? undefined,
    'client.address': clientAddress(ip),
    'user_agent.original': headers['user-agent'],
    'network.protocol.version': raw.httpVersion,
  };
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

/** Ids of the trace and the span of a request, as log lines have them. */
export function traceIds(span: Span) {
  const { traceId, spanId } = span.spanContext();
  return { trace_id: traceId, span_id: spanId };
}
