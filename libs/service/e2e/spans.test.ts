import { once } from 'node:events';
import { get, request } from 'node:http';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import type { Database } from '@rest-services/database';
import { sql } from 'kysely';
import { scrape } from '../test/http.ts';
import { buildApp } from '../test/notes/app.ts';
import { migrations, type NotesDatabase } from '../test/notes/database.ts';
import { serve } from '../test/serve.ts';

// Spans as they are made; telemetry.test.ts has their export.

const exporter = new InMemorySpanExporter();
// The exporter of the service comes second, and gets no spans.
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();

const service = await serve(
  {
    migrations,
    async buildApp(db: Database<NotesDatabase>, settings) {
      const app = await buildApp(db, settings);
      app.get('/never', { schema: { hide: true } }, () => new Promise(() => undefined));
      return app;
    },
  },
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
);
const { url } = service;
beforeEach(() => exporter.reset());
afterAll(() => service.stop());

/** @returns the spans with this name, once this many have ended */
async function named(name: string, count = 1) {
  for (;;) {
    const spans = exporter.getFinishedSpans().filter((span) => span.name === name);
    if (spans.length >= count) return spans as [(typeof spans)[0], ...typeof spans];
    await endOfTurn();
  }
}

const idOf = async (name: string) => (await named(name))[0].spanContext().spanId;

const trace = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
test('The span of a request continues the trace of its client', async () => {
  const headers = { traceparent: `00-${trace.traceId}-${trace.spanId}-01`, 'user-agent': 'test' };
  // telemetry.test.ts has these headers with TRUST_PROXY.
  const ofProxy = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-host': 'a.example', 'x-forwarded-proto': 'https' };
  await fetch(`${url}/notes/1?title=s3cret`, { headers: { ...headers, ...ofProxy } });
  const [span] = await named('GET /notes/:id');
  // By the conventions, errors of the server alone are marked, not a 404.
  expect(span).toMatchObject({
    kind: SpanKind.SERVER,
    parentSpanContext: trace,
    status: { code: SpanStatusCode.UNSET },
  });
  expect(span.attributes).toEqual({
    'http.request.method': 'GET',
    'http.response.status_code': 404,
    'http.route': '/notes/:id',
    'url.path': '/notes/1',
    'url.scheme': 'http',
    'client.address': '127.0.0.1',
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(url).port),
    'network.protocol.version': '1.1',
    'user_agent.original': 'test',
  });
});

test('Each statement of a request has a span without its values', async () => {
  const headers = { 'content-type': 'application/json', 'content-length': 18 };
  const post = request(`${url}/notes`, { method: 'POST', headers });
  post.flushHeaders();
  await once(service.app.server, 'request');
  // In an event of the connection, not of the request.
  post.end('{"title":"s3cret"}');
  await once(post, 'response');
  await service.request('PUT', '/notes/1', { title: 's3cret2' });
  await service.request('GET', '/notes/summary');
  for (const [request, name, text] of [
    ['POST /notes', 'insert note', /^insert into "note" \("title"\)\s+select "title" from json_populate_record\(/],
    ['PUT /notes/:id', 'update note', /^update "note" .* where old\.id = \$2/s],
    ['GET /notes/summary', 'select note_count', /^select "total" from "note_count"/],
  ] as const) {
    const [statement] = await named(name);
    const [operation, table] = name.split(' ');
    expect(statement.kind).toBe(SpanKind.CLIENT);
    expect(statement.parentSpanContext?.spanId).toBe(await idOf(request));
    expect(statement.attributes).toEqual({
      'db.system.name': 'postgresql',
      'db.namespace': expect.any(String),
      'db.operation.name': operation,
      'db.collection.name': table,
      'db.query.summary': name,
      'db.query.text': expect.stringMatching(text),
      'server.address': expect.any(String),
      'server.port': expect.any(Number),
    });
    expect(JSON.stringify(statement.attributes)).not.toContain('s3cret');
  }
});

test('A statement that requests share is below one of them, and /metrics has their number', async () => {
  const figures = async () => {
    const metrics = await scrape(url);
    return ['sum', 'count', 'bucket{le="64"}', 'bucket{le="+Inf"}'].map((each) =>
      metrics.get(`database_requests_per_statement_${each}`)!,
    );
  };
  let before: number[];
  let statements: ReadableSpan[];
  let isBusy: boolean;
  // Until requests have been in the same iteration of the event loop, and no busy machine has let one wait for a connection for too long.
  do {
    exporter.reset();
    before = await figures();
    const responses = await Promise.all(Array.from({ length: 20 }, () => service.request('GET', '/notes/1')));
    isBusy = responses.some(({ status }) => status >= 500);
    await named('GET /notes/:id', 20);
    statements = exporter.getFinishedSpans().filter(({ name }) => name === 'select note');
  } while (isBusy || statements.length === 20);
  const requests = (await named('GET /notes/:id')).map((span) => span.spanContext().spanId);
  for (const { parentSpanContext } of statements) expect(requests).toContain(parentSpanContext?.spanId);
  const { length } = statements;
  expect((await figures()).map((figure, index) => figure - before[index]!)).toEqual([20, length, length, length]);
});

test('The spans of a statement that is refused and of its request have the error', async () => {
  await sql`alter table note add constraint good check (title <> 'bad')`.execute(service.db);
  expect((await service.request('POST', '/notes', { title: 'bad' })).status).toBe(500);
  const [[statement], [request]] = [await named('insert note'), await named('POST /notes')];
  expect(statement.attributes).toMatchObject({ 'error.type': '23514', 'db.response.status_code': '23514' });
  expect(request.attributes).toMatchObject({ 'http.response.status_code': 500, 'error.type': '500' });
  for (const { status } of [statement, request]) expect(status.code).toBe(SpanStatusCode.ERROR);
});

test('Every chunk of a long list is a statement of its request', async () => {
  await sql`insert into note (title) select 'a' from generate_series(1, 5000)`.execute(service.db);
  expect((await service.request('GET', '/notes?limit=5000')).body).toHaveLength(5_000);
  const request = await idOf('GET /notes');
  // In the order of their ends: the span of the request lasts until the response has been sent.
  const ended = exporter.getFinishedSpans().filter((span) => span.name !== 'wait for connection');
  const chunks = ended.slice(0, -1).map((span) => [span.name, span.parentSpanContext?.spanId]);
  expect(chunks.length).toBeGreaterThan(2);
  expect(chunks).toEqual(chunks.map(() => ['select note', request]));
});

test('The span of a request that its client aborts has the error "aborted"', async () => {
  const left = get(`${url}/never`).on('error', () => undefined);
  await once(service.app.server, 'request');
  left.destroy();
  const [span] = await named('GET /never');
  expect(span).toMatchObject({ attributes: { 'error.type': 'aborted' }, status: { code: SpanStatusCode.ERROR } });
});

test('Probes and scrapes have no span, and the path of no route is in no name', async () => {
  for (const path of ['/livez', '/readyz', '/metrics', '/nowhere']) await (await fetch(url + path)).text();
  await named('GET');
  expect(exporter.getFinishedSpans()).toMatchObject([{ attributes: { 'url.path': '/nowhere' } }]);
});
