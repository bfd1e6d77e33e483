import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { sendList, type Settings } from '../src/index.ts';
import { createTestApp } from './http.ts';
import { serve } from './serve.ts';

const rows = Array.from({ length: 100 }, (_, index) => ({ id: index + 1, title: `Row number ${index + 1}` }));

/** Of `/endless`, while it is open. */
let source: Readable | undefined;

async function buildApp(_db: unknown, settings: Settings) {
  const app = await createTestApp(settings);
  const hidden = { schema: { hide: true } };
  app.get('/record', { schema: { response: { 200: Type.Array(Type.Object({ title: Type.String() })) } } }, () => rows);
  app.get('/short', hidden, () => rows.slice(0, 3));
  app.get('/long', hidden, () => rows.concat(...Array<typeof rows>(100).fill(rows)));
  app.get('/list', hidden, (_request, reply) =>
    sendList(reply, { rows, version: '1', next: () => Promise.resolve({ rows, next: undefined }) }),
  );
  app.get('/failing', hidden, (_request, reply) =>
    sendList(reply, {
      rows: Array<string>(5_000).fill(`${Math.random()}`),
      next: () => Promise.reject(new Error('The database is gone')),
    }),
  );
  app.get('/compressed', hidden, (_request, reply) =>
    reply.type('text/html').header('content-encoding', 'br').send('x'.repeat(10_000)),
  );
  app.get('/endless', hidden, (_request, reply) => {
    source = Readable.from(endless());
    return reply.type('text/plain').send(source);
  });
  app.get('/broken', hidden, (_request, reply) => {
    const cannotOpen = Object.assign(new Error('No file can be opened'), { code: 'EMFILE' });
    return reply.type('text/html').send(new Readable({ read: () => undefined, construct: (done) => done(cannotOpen) }));
  });
  return app;
}

function* endless() {
  for (;;) yield `${Math.random()}\n`.repeat(1_000);
}

const start = (environment?: NodeJS.ProcessEnv) => serve({ migrations: {}, buildApp }, environment);
let service: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  service = await start();
});

/** Requests without the `Accept-Encoding` that `fetch` would add. */
async function open(path: string, headers: Record<string, string>, method = 'GET', url = service.url) {
  const sent = request(url + path, { method, headers }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  // A reset is an error of both.
  sent.on('error', () => undefined);
  return response;
}

async function get(
  path: string,
  accepted = 'br, gzip',
  method = 'GET',
  others: Record<string, string> = {},
  url = service.url,
) {
  const response = await open(path, { 'accept-encoding': accepted, ...others }, method, url);
  const bytes = await buffer(response);
  const { 'content-encoding': coding, 'content-length': length, vary, etag, ...headers } = response.headers;
  const isCompressed = coding === 'gzip' && bytes.length > 0;
  return {
    status: response.statusCode,
    coding,
    length,
    vary,
    etag,
    headers,
    bytes,
    text: String(isCompressed ? gunzipSync(bytes) : bytes),
  };
}

test.each(['/record', '/long', '/list', '/metrics', '/docs/static/swagger-ui.css'])(
  '%s is compressed with gzip for a client that accepts it',
  async (path) => {
    const [plain, compressed] = [await get(path, 'identity'), await get(path)];
    expect([plain.coding, compressed.coding, compressed.vary]).toEqual([undefined, 'gzip', 'accept-encoding']);
    expect(compressed.bytes.length).toBeLessThan(plain.bytes.length / 2);
    // Metrics differ from request to request.
    if (path !== '/metrics') expect(compressed.text).toBe(plain.text);
    for (const { bytes, length = `${bytes.length}` } of [plain, compressed]) expect(length).toBe(`${bytes.length}`);
  },
);

test.each([
  ['*', 'gzip'],
  ['identity;q=0, gzip', 'gzip'],
  ['gzip;q=0', undefined],
  ['br, zstd', undefined],
  [', ;q=1, gzip;q=x', undefined],
])('to a request with Accept-Encoding %j, the response has the coding %s', async (accepted, expected) => {
  const { status, coding, text } = await get('/record', accepted);
  expect([status, coding, (JSON.parse(text) as object[]).length]).toEqual([200, expected, 100]);
});

test.each(['/short', '/nowhere', '/livez'])('%s is not compressed, and does not vary', async (path) => {
  const { coding, vary } = await get(path);
  expect([coding, vary]).toEqual([undefined, undefined]);
});

test.each(['/record', '/list'])('%s varies by its origin, too, where CORS_ORIGIN names some', async (path) => {
  const origin = 'https://a.example';
  const other = await start({ CORS_ORIGIN: origin });
  const { etag, ...first } = await get(path, 'gzip', 'GET', { origin }, other.url);
  const known = await get(path, 'gzip', 'GET', { origin, 'if-none-match': etag! }, other.url);
  await other.stop();
  for (const { vary } of [first, known]) expect(vary?.toLowerCase().split(', ')).toEqual(['origin', 'accept-encoding']);
});

test('what is compressed already stays as it is', async () => {
  const { coding, bytes } = await get('/compressed');
  expect([coding, bytes.length]).toEqual(['br', 10_000]);
});

test.each(['/record', '/long', '/list', '/docs/static/swagger-ui.css'])(
  'HEAD of %s has the headers of GET',
  async (path) => {
    for (const accepted of ['gzip', 'identity']) {
      const [got, head] = [await get(path, accepted), await get(path, accepted, 'HEAD')];
      const { status, coding, length, vary, etag } = got;
      expect(head).toMatchObject({ status, coding, length, vary, etag, text: '' });
    }
  },
);

test.each(['/record', '/list'])('%s has one weak tag, with which If-None-Match gets 304', async (path) => {
  const { etag, vary } = await get(path, 'identity');
  expect([etag, vary]).toEqual([expect.stringMatching(/^W\/"[\w-]{27}"$/), 'accept-encoding']);
  for (const method of ['GET', 'HEAD']) {
    const known = await get(path, 'gzip', method, { 'if-none-match': etag! });
    expect([known.status, known.etag, known.vary, known.text]).toEqual([304, etag, vary, '']);
    expect(await get(path, 'gzip', method, { 'if-none-match': '"other"' })).toMatchObject({ status: 200, etag });
  }
});

test('a failure before the first byte is plain JSON', async () => {
  const { status, coding, headers, text } = await get('/broken');
  expect([status, coding, headers['content-type']]).toEqual([500, undefined, 'application/json; charset=utf-8']);
  expect(JSON.parse(text)).toEqual({ message: 'Database error', error: { code: 'EMFILE' } });
});

test('a list that fails after its first chunk is aborted, not complete', async () => {
  await expect(get('/failing')).rejects.toMatchObject({ code: 'ECONNRESET' });
});

test('a stream releases what it holds when its reader leaves', async () => {
  const response = await open('/endless', { 'accept-encoding': 'gzip' });
  await once(response, 'readable');
  response.destroy();
  if (!source!.closed) await new Promise((resolve) => source!.once('close', resolve));
});
