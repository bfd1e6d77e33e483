import { SpanKind, SpanStatusCode, trace, type Span } from '@opentelemetry/api';
import pg from 'pg';
import { errorCode } from '@rest-services/errors';

/** Asked for each time, because a tracer from before the start of telemetry would never record: that of the bundle has an API of its own. */
const tracer = () => trace.getTracer('@rest-services/database');

/**
 * Starts the span of a statement, a child of its request's, or of the first of several. Values are not part of it, because `text` has
 * placeholders.
 * @returns `undefined` when that request is not recorded
 */
export function startStatementSpan(text: string, { host, port, database }: pg.ClientConfig): Span | undefined {
  if (!trace.getActiveSpan()?.isRecording()) return undefined;
  const [operation, table] = summaryOf(text);
  const summary = table === undefined ? operation : `${operation} ${table}`;
  return tracer().startSpan(summary, {
    kind: SpanKind.CLIENT,
    attributes: {
      'db.system.name': 'postgresql',
      'db.query.text': text,
      'db.query.summary': summary,
      'db.operation.name': operation,
      'db.collection.name': table,
      'db.namespace': database,
      'server.address': host,
      'server.port': port ?? 5_432,
    },
  });
}

/** Ends the span of a statement that has failed. */
export function endWithError(span: Span, error: unknown) {
  const code = errorCode(error);
  span.setAttribute('error.type', code || '_OTHER');
  if (error instanceof pg.DatabaseError) span.setAttribute('db.response.status_code', code);
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Records the wait of a request for a connection that was not free. */
export function recordConnectionWait(waitedMs: number) {
  if (waitedMs < RECORDED_WAIT_MS || !trace.getActiveSpan()?.isRecording()) return;
  tracer()
    .startSpan('wait for connection', { startTime: Date.now() - waitedMs })
    .end();
}

/** Wait from which on a connection was not free: it had to be opened, or another request had it. */
const RECORDED_WAIT_MS = 1;

/** Operation and table of a statement: those of the change if it has one, else the outermost table. */
function summaryOf(text: string): [operation: string, table?: string] {
  const [, change, changed] = /\b(insert into|update|delete from) "(\w+)"/i.exec(text) ?? [];
  if (change !== undefined) return [change.split(' ')[0]!.toLowerCase(), changed!];
  const [, read] = /.*\bfrom "(\w+)"/is.exec(text) ?? [];
  const [operation = 'query'] = /\w+/.exec(text) ?? [];
  return read === undefined ? [operation.toLowerCase()] : ['select', read];
}
