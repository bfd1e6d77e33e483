import { cp, mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { openTestConnection, send, sendJson, startProcess, withMargin } from '@rest-services/testing';
import { sql } from 'kysely';
import { notesMain } from '../test/notes/bundled.ts';
import { insertNotes, notes } from '../test/process/notes-process.ts';
import { startReceiver, type Span } from './otlp-receiver.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';
const traceparent = `00-${TRACE_ID}-${PARENT_ID}-01`;

/** Numbers of the kinds of spans in OTLP. */
const [SERVER, CLIENT] = [2, 3];

type Receiver = Awaited<ReturnType<typeof startReceiver>>;
const receivers: Receiver[] = [];

async function receive(...args: Parameters<typeof startReceiver>) {
  const receiver = await startReceiver(...args);
  receivers.push(receiver);
  return receiver;
}

afterEach(() => Promise.all(receivers.splice(0).map((receiver) => receiver.close())));

/** Starts the service with an export to `receiver` every 50 ms. */
function startTraced({ url }: { url: string }, environment: NodeJS.ProcessEnv = {}) {
  return notes.start({
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    ...environment,
  });
}

const named = (receiver: Receiver, name: string) =>
  receiver.find(() => receiver.spans.find((span) => span.name === name));

const childrenOf = ({ spans }: Receiver, { spanId }: Span) => spans.filter((span) => span.parentSpanId === spanId);

describe('With OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  test('the span of a request continues the trace of its client', async () => {
    const receiver = await receive();
    const url = await startTraced(receiver, { OTEL_RESOURCE_ATTRIBUTES: 'team=a' }).listening();
    await fetch(`${url}/notes/1?title=s3cret`, { headers: { traceparent, 'user-agent': 'test' } });
    const span = await named(receiver, 'GET /notes/:id');
    expect(span).toMatchObject({ traceId: TRACE_ID, parentSpanId: PARENT_ID, kind: SERVER });
    expect(span.attributes).toMatchObject({
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
    expect(JSON.stringify(span)).not.toContain('s3cret');
    // By the conventions, errors of the server alone are marked, not a 404.
    expect(span.status?.code ?? 0).toBe(0);
    expect(span.resource).toMatchObject({ 'service.name': 'notes', 'service.version': '1.2.3', team: 'a' });
  });

  test('the span of a request has client, host and scheme of its proxy, where TRUST_PROXY names that', async () => {
    const headers = {
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-host': 'example.org',
      'x-forwarded-proto': 'https',
    };
    const attributesOf = async (headers: Record<string, string>, environment: NodeJS.ProcessEnv) => {
      const receiver = await receive();
      const url = await startTraced(receiver, environment).listening();
      await fetch(`${url}/notes/1`, { headers });
      const { attributes } = await named(receiver, 'GET /notes/:id');
      return [attributes['client.address'], attributes['server.address'], attributes['url.scheme']];
    };
    const trusted = ['203.0.113.7', 'example.org', 'https'];
    for (const TRUST_PROXY of ['loopback', '1']) expect(await attributesOf(headers, { TRUST_PROXY })).toEqual(trusted);
    expect(await attributesOf(headers, {})).toEqual(['127.0.0.1', '127.0.0.1', 'http']);
  });

  test('each statement of a request has a span without its values', async () => {
    const receiver = await receive();
    const url = await startTraced(receiver).listening();
    await sendJson(url, 'POST', '/notes', { title: 's3cret' });
    await sendJson(url, 'PUT', '/notes/1', { title: 's3cret2' });
    await sendJson(url, 'GET', '/notes/summary');
    for (const [request, name, text] of [
      [
        'POST /notes',
        'insert note',
        /^insert into "note" \("title"\)\s+select "title" from json_populate_record\(null::"note", \$1\)/,
      ],
      ['PUT /notes/:id', 'update note', /^update "note" .* where old\.id = \$2/s],
      ['GET /notes/summary', 'select note_count', /^select "total" from "note_count"/],
    ] as const) {
      const statement = await named(receiver, name);
      const [operation, table] = name.split(' ');
      expect(statement).toMatchObject({ kind: CLIENT });
      expect(statement.parentSpanId).toBe((await named(receiver, request)).spanId);
      expect(statement.attributes).toMatchObject({
        'db.system.name': 'postgresql',
        'db.namespace': new URL(notes.database.url).pathname.slice(1),
        'db.operation.name': operation,
        'db.collection.name': table,
        'db.query.summary': name,
        'db.query.text': expect.stringMatching(text),
        'server.address': new URL(notes.database.url).hostname,
      });
    }
    expect(JSON.stringify(receiver.spans)).not.toContain('s3cret');
  });

  test('a statement that requests share is below one of them', async () => {
    const receiver = await receive();
    const url = await startTraced(receiver).listening();
    const spansOf = (name: string) => receiver.spans.filter((span) => span.name === name);
    // Until requests have been in the same iteration of the event loop.
    for (let sent = 20; spansOf('select note').length === spansOf('GET /notes/:id').length; sent += 20) {
      await Promise.all(Array.from({ length: 20 }, () => send(url, '/notes/1')));
      await receiver.find(() => spansOf('GET /notes/:id')[sent - 1]);
    }
    const requests = spansOf('GET /notes/:id').map(({ spanId }) => spanId);
    for (const { parentSpanId } of spansOf('select note')) expect(requests).toContain(parentSpanId);
  });

  test('each of the requests that one connection pipelines has its own statement', async () => {
    const receiver = await receive();
    const url = await startTraced(receiver).listening();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
    socket.write(get('/notes/1') + get('/notes/summary'));
    for (const [request, statement] of [
      ['GET /notes/:id', 'select note'],
      ['GET /notes/summary', 'select note_count'],
    ] as const) {
      const span = await named(receiver, request);
      const statements = () => childrenOf(receiver, span).filter(({ name }) => name !== 'wait for connection');
      await receiver.find(() => statements()[0]);
      expect([request, statements().map(({ name }) => name)]).toEqual([request, [statement]]);
    }
    socket.destroy();
  });

  test('the spans of a statement that is refused and of its request have the error', async () => {
    const receiver = await receive();
    const url = await startTraced(receiver).listening();
    const db = openTestConnection(notes.database.url);
    await sql`alter table note add check (title <> 'bad')`.execute(db);
    await db.destroy();
    await sendJson(url, 'POST', '/notes', { title: 'bad' });
    const [statement, request] = [await named(receiver, 'insert note'), await named(receiver, 'POST /notes')];
    expect(statement.attributes).toMatchObject({ 'error.type': '23514', 'db.response.status_code': '23514' });
    expect(request.attributes).toMatchObject({ 'http.response.status_code': 500, 'error.type': '500' });
    for (const { status } of [statement, request]) expect(status?.code).toBe(2);
  });

  test('every chunk of a long list is a statement of its request', async () => {
    const receiver = await receive();
    const url = await startTraced(receiver).listening();
    await insertNotes(5_000);
    expect(await (await fetch(`${url}/notes?limit=5000`)).json()).toHaveLength(5_000);
    const request = await named(receiver, 'GET /notes');
    const chunks = childrenOf(receiver, request).filter(({ name }) => name === 'select note');
    expect(chunks.length).toBeGreaterThan(2);
    // The span lasts until the response has been sent.
    for (const chunk of chunks) expect(chunk.endTimeUnixNano).toBeLessThanOrEqual(request.endTimeUnixNano);
  });

  test('the span of a request that its client aborts has the error "aborted"', async () => {
    const receiver = await receive();
    const service = startTraced(receiver);
    const url = await service.listening();
    const other = openTestConnection(notes.database.url);
    await other.transaction().execute(async (locking) => {
      await sql`lock table note in access exclusive mode`.execute(locking);
      await expect(fetch(`${url}/notes/1`, { signal: AbortSignal.timeout(200) })).rejects.toThrow();
      const span = await named(receiver, 'GET /notes/:id');
      expect(span.attributes).toMatchObject({ 'error.type': 'aborted' });
      const { traceId, spanId } = span;
      expect(await service.logged(/^request$/)).toMatchObject({ aborted: true, trace_id: traceId, span_id: spanId });
      expect(span.status?.code).toBe(2);
    });
    await other.destroy();
  });

  test('probes, scrapes and refused requests have no span', async () => {
    const receiver = await receive();
    const service = startTraced(receiver);
    const url = await service.listening();
    for (const path of ['/livez', '/readyz', '/metrics', '/nowhere']) await fetch(url + path);
    await named(receiver, 'GET');
    service.child.kill('SIGTERM');
    await service.ended;
    expect(receiver.spans).toMatchObject([{ name: 'GET', attributes: { 'url.path': '/nowhere' } }]);
  });

  test('every log line of a traced request has trace_id and span_id', async () => {
    const receiver = await receive();
    const service = startTraced(receiver);
    const url = await service.listening();
    const db = openTestConnection(notes.database.url);
    await sql`alter table note add check (title <> 'bad')`.execute(db);
    await db.destroy();
    const body = JSON.stringify({ title: 'bad' });
    await fetch(`${url}/notes`, { method: 'POST', headers: { traceparent, 'content-type': 'application/json' }, body });
    const { spanId } = await named(receiver, 'POST /notes');
    const ids = { trace_id: TRACE_ID, span_id: spanId };
    expect(await service.logged(/^request failed$/)).toMatchObject(ids);
    expect(await service.logged(/^request$/)).toMatchObject(ids);
  });

  test('requests that are not sampled have ids in their log lines, and are not exported', async () => {
    const receiver = await receive();
    const service = startTraced(receiver, { OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
    const url = await service.listening();
    await insertNotes(1);
    await fetch(`${url}/notes/1`);
    expect(await service.logged(/^request$/)).toMatchObject({ trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
    await fetch(`${url}/notes/1`, { headers: { traceparent } });
    const span = await named(receiver, 'GET /notes/:id');
    expect(span.traceId).toBe(TRACE_ID);
    service.child.kill('SIGTERM');
    await service.ended;
    expect(receiver.spans.filter(({ traceId }) => traceId !== TRACE_ID)).toEqual([]);
  });

  test('OTEL_EXPORTER_OTLP_HEADERS and OTEL_SERVICE_NAME have their meaning', async () => {
    const receiver = await receive();
    const options = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a', OTEL_SERVICE_NAME: 'other' };
    const url = await startTraced(receiver, options).listening();
    await fetch(`${url}/notes`);
    expect((await named(receiver, 'GET /notes')).resource).toMatchObject({ 'service.name': 'other' });
    expect(receiver.exports[0]!.headers.authorization).toBe('Bearer a');
  });

  test('a drain exports the last spans', async () => {
    const receiver = await receive();
    const service = startTraced(receiver, { OTEL_BSP_SCHEDULE_DELAY: '60000' });
    const url = await service.listening();
    await fetch(`${url}/notes`);
    service.child.kill('SIGTERM');
    expect(await service.ended).toEqual({ code: 0, errors: '' });
    expect(receiver.spans.map(({ name }) => name)).toContain('GET /notes');
  });
});

describe('An OTLP receiver that', () => {
  /** Sends requests, and ends the service. */
  async function exerciseWith(url: string, { isReported }: { isReported: boolean }) {
    // The exporter tries again for as long as that.
    const service = startTraced({ url }, isReported ? { OTEL_EXPORTER_OTLP_TIMEOUT: '500' } : {});
    const base = await service.listening();
    // One after the other, because a busy machine may refuse many at once for other reasons.
    for (let turn = 0; turn < 50; turn += 1) expect(await send(base, '/notes')).toMatchObject({ status: 200 });
    if (isReported) await service.logged(/^Telemetry not exported$/);
    const startedAt = performance.now();
    service.child.kill('SIGTERM');
    expect(await service.ended).toEqual({ code: 0, errors: '' });
    expect(performance.now() - startedAt).toBeLessThan(withMargin(10_000));
    return service.log.filter(({ msg }) => msg === 'Telemetry not exported');
  }

  test('is down neither fails requests nor delays a drain beyond its limit', async () => {
    expect(await exerciseWith(`http://127.0.0.1:${await freePort()}`, { isReported: true })).toHaveLength(1);
  });

  test('responds 500 neither fails requests nor delays a drain beyond its limit', async () => {
    const receiver = await receive((response) => void response.writeHead(500).end());
    expect(await exerciseWith(receiver.url, { isReported: true })).toHaveLength(1);
  });

  test('never responds neither fails requests nor delays a drain beyond its limit', async () => {
    const silent = createServer((socket) => void socket.on('error', () => undefined)).unref();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    await exerciseWith(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, { isReported: false });
  });
});

describe('Telemetry is not loaded', () => {
  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT is not set', {}],
    ['OTEL_SDK_DISABLED is true', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_SDK_DISABLED: 'true' }],
  ])('where %s', async (_, environment) => {
    // A bundle without the file would end at its start if it loaded it.
    const folder = await mkdtemp(join(tmpdir(), 'notes-'));
    await cp(dirname(notesMain()), folder, { recursive: true, filter: (file) => !file.endsWith('telemetry.js') });
    const service = startProcess(join(folder, 'main.js'), { DATABASE_URL: notes.database.url, ...environment });
    const url = await service.listening();
    expect((await fetch(`${url}/notes`, { headers: { traceparent } })).status).toBe(200);
    expect(await service.logged(/^request$/)).not.toHaveProperty('trace_id');
    service.child.kill('SIGTERM');
    expect(await service.ended).toEqual({ code: 0, errors: '' });
    await rm(folder, { recursive: true });
  });
});
