import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import type { Database } from '@rest-services/database';
import { sql } from 'kysely';
import { sendList, type Settings } from '../src/index.ts';
import { buildApp } from './notes/app.ts';
import { migrations, type NotesDatabase } from './notes/database.ts';
import { serve } from './serve.ts';

/** Of `/list`, after its first chunk. */
let chunksRead = 0;

/** Notes, with a page that can't be read, and a list that counts its chunks. */
async function buildOddApp(db: Database<NotesDatabase>, settings: Settings) {
  const app = await buildApp(db, settings);
  const cannotOpen = Object.assign(new Error('No file can be opened'), { code: 'EMFILE' });
  app.get('/broken', { schema: { hide: true } }, (_request, reply) =>
    reply.type('text/html').send(new Readable({ read: () => undefined, construct: (done) => done(cannotOpen) })),
  );
  app.get('/list', { schema: { hide: true } }, (_request, reply) => {
    const next = () => Promise.resolve({ rows: [(chunksRead += 1)], next: undefined });
    return sendList(reply, { rows: [0], next });
  });
  return app;
}

const service = await serve({ migrations, buildApp: buildOddApp }, { CORS_ORIGIN: 'https://a.example' });

const [text, longText, list, file] = [
  '/notes?limit=100',
  '/notes?limit=250',
  '/notes/all',
  '/docs/static/swagger-ui.css',
];

await sql`insert into note (title) select repeat(n || ' ', 100) from generate_series(1, 300) n`.execute(service.db);

/** Requests without the `Accept-Encoding` that `fetch` would add. */
async function get(path: string, accepted = 'br, gzip', method = 'GET', others: Record<string, string> = {}) {
  const sent = request(service.url + path, { method, headers: { 'accept-encoding': accepted, ...others } }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const bytes = await buffer(response);
  const { 'content-encoding': coding, 'content-length': length, 'content-type': type, vary, etag } = response.headers;
  const body = String(coding === 'gzip' && bytes.length > 0 ? gunzipSync(bytes) : bytes);
  const varies = vary?.toLowerCase().split(', ');
  return { status: response.statusCode, coding, length, type, varies, etag, bytes, body };
}

test.each([text, longText, list, '/metrics', file])(
  '%s is compressed with gzip for a client that accepts it, and varies by origin and coding',
  async (path) => {
    const [plain, compressed] = [await get(path, 'identity'), await get(path)];
    expect([plain.coding, compressed.coding, compressed.varies]).toEqual([
      undefined,
      'gzip',
      ['origin', 'accept-encoding'],
    ]);
    expect(compressed.bytes.length).toBeLessThan(plain.bytes.length / 2);
    // Metrics differ from request to request.
    if (path !== '/metrics') expect(compressed.body).toBe(plain.body);
    for (const { bytes, length = `${bytes.length}` } of [plain, compressed]) expect(length).toBe(`${bytes.length}`);
  },
);

test.each([
  ['/notes/1', 'gzip', ['origin']],
  ['/nowhere', 'gzip', ['origin']],
  ['/livez', 'gzip', ['origin']],
  [text, 'br, zstd', ['origin', 'accept-encoding']],
])('%s is not compressed for a client that accepts %s, and varies by %j', async (path, accepted, expected) => {
  const { coding, varies } = await get(path, accepted);
  expect([coding, varies]).toEqual([undefined, expected]);
});

test.each([text, longText, list, file])('HEAD of %s has the headers of GET', async (path) => {
  for (const accepted of ['gzip', 'identity']) {
    const { status, coding, length, type, varies, etag } = await get(path, accepted);
    const headers = { status, coding, length, type, varies, etag };
    expect(await get(path, accepted, 'HEAD')).toMatchObject({ ...headers, body: '' });
  }
});

test.each([text, list])('%s has one weak tag for all codings, with which If-None-Match gets 304', async (path) => {
  const { etag, varies } = await get(path, 'identity');
  expect(etag).toMatch(/^W\/"[\w-]{27}"$/);
  for (const method of ['GET', 'HEAD']) {
    const known = await get(path, 'gzip', method, { 'if-none-match': etag! });
    expect(known).toMatchObject({ status: 304, etag, varies, body: '' });
    expect(await get(path, 'gzip', method, { 'if-none-match': '"other"' })).toMatchObject({ status: 200, etag });
  }
});

test('HEAD of a long list reads no more than its beginning', async () => {
  await get('/list', 'gzip', 'HEAD');
  expect((await get('/list')).body).toBe('[0,1]');
});

test('a failure before the first byte is plain JSON, even where a page was to be sent', async () => {
  const { status, coding, type, body } = await get('/broken');
  expect([status, coding, type]).toEqual([500, undefined, 'application/json; charset=utf-8']);
  expect(JSON.parse(body)).toEqual({ message: 'Database error', error: { code: 'EMFILE' } });
});
