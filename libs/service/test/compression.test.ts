import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createZstdDecompress,
  gunzipSync,
  zstdDecompressSync,
} from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { sendList, type Settings } from '../src/index.ts';
import { createTestApp } from './http.ts';
import { serve } from './serve.ts';

const decoders = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync };
const codings = Object.keys(decoders) as (keyof typeof decoders)[];

const rows = Array.from({ length: 100 }, (_, index) => ({ id: index + 1, title: `Row number ${index + 1}` }));

/** Sends the second chunk of `/list`. */
let sendSecond: () => void;
let second: Promise<void>;

/** Sources of `/endless` that are open. */
const open = new Set<Readable>();

async function buildApp(_db: unknown, settings: Settings) {
  const app = await createTestApp(settings);
  const hidden = { schema: { hide: true } };
  app.get('/long', hidden, (_request, reply) =>
    reply.header('vary', 'origin').header('etag', '"1"').type('application/json').send(JSON.stringify(rows)),
  );
  app.get('/record', { schema: { response: { 200: Type.Array(Type.Object({ title: Type.String() })) } } }, () => rows);
  app.get('/weak', hidden, (_request, reply) => reply.header('etag', 'W/"1"').send(rows));
  app.get('/short', hidden, () => rows.slice(0, 3));
  app.get('/image', hidden, (_request, reply) => reply.type('image/png').send(Buffer.alloc(10_000)));
  app.get('/compressed', hidden, (_request, reply) =>
    reply.type('text/html').header('content-encoding', 'br').send('x'.repeat(10_000)),
  );
  app.get('/list', hidden, (_request, reply) => {
    second = new Promise((resolve) => (sendSecond = resolve));
    return sendList(reply, { rows, next: () => second.then(() => ({ rows, next: undefined })) });
  });
  app.get('/chunks', hidden, (_request, reply) =>
    sendList(reply, { rows, next: () => Promise.resolve({ rows, next: undefined }) }),
  );
  app.get('/failing', hidden, (_request, reply) => {
    second = new Promise((resolve) => (sendSecond = resolve));
    return sendList(reply, { rows, next: () => second.then(() => Promise.reject(new Error('The database is gone'))) });
  });
  app.get('/endless', hidden, (_request, reply) => {
    const source = Readable.from(endless()).once('close', () => open.delete(source));
    open.add(source);
    return reply.type('text/plain').send(source);
  });
  app.get('/broken', hidden, (_request, reply) => {
    const cannotOpen = Object.assign(new Error('No file can be opened'), { code: 'EMFILE' });
    return reply.type('text/html').send(new Readable({ read: () => undefined, construct: (done) => done(cannotOpen) }));
  });
  return app;
}

const closed = (source: Readable) => new Promise((resolve) => source.once('close', resolve));

function* endless() {
  for (let line = 0; ; line += 1) yield `${line} ${Math.random()}\n`.repeat(100);
}

let service: Awaited<ReturnType<typeof startTest>>;
const startTest = (environment: NodeJS.ProcessEnv = {}) => serve({ migrations: {}, buildApp }, environment);
beforeAll(async () => {
  service = await startTest();
});
afterAll(() => service.stop());

/** Requests without the `Accept-Encoding` that `fetch` would add. */
async function openResponse(
  path: string,
  acceptEncoding?: string,
  method = 'GET',
  { url } = service,
  others: Record<string, string> = {},
) {
  const headers = { ...others, ...(acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding }) };
  const [response] = (await once(request(url + path, { method, headers }).end(), 'response')) as [IncomingMessage];
  return response;
}

async function get(...args: Parameters<typeof openResponse>) {
  const response = await openResponse(...args);
  const coding = response.headers['content-encoding'] as keyof typeof decoders | undefined;
  const bytes = await buffer(response);
  const text = coding && bytes.length > 0 ? decoders[coding](bytes).toString() : bytes.toString();
  return { status: response.statusCode, headers: response.headers, coding, length: bytes.length, text };
}

describe('A long response', () => {
  test.each(codings)('is compressed with %s for a client that accepts it', async (coding) => {
    const plain = await get('/long');
    const compressed = await get('/long', coding);
    expect([plain.coding, compressed.coding]).toEqual([undefined, coding]);
    expect(compressed.text).toBe(plain.text);
    expect(compressed.length).toBeLessThan(plain.length / 4);
    for (const { headers, length } of [plain, compressed]) {
      expect([headers['content-length'], headers.vary]).toEqual([`${length}`, 'origin, accept-encoding']);
    }
  });

  test.each([
    ['gzip, deflate, br, zstd', 'zstd'],
    ['br', 'br'],
    ['*', 'zstd'],
    ['zstd;q=0, gzip;q=0, *;q=0.1', 'br'],
    ['gzip;q=0.5, br;q=0.8', 'br'],
    ['identity;q=0, gzip', 'gzip'],
    ['identity, gzip;q=0.5', undefined],
    ['identity;q=0', undefined],
    ['gzip;q=0', undefined],
    ['deflate, compress', undefined],
    [', ;q=1, gzip;q=x', undefined],
    [undefined, undefined],
  ])('to a request with Accept-Encoding %j has the coding %s', async (accepted, coding) => {
    const { status, coding: used, headers, text } = await get('/long', accepted);
    expect([status, used, headers.vary, JSON.parse(text)]).toEqual([200, coding, 'origin, accept-encoding', rows]);
  });

  test.each(['/long', '/weak', '/chunks', '/metrics', '/docs/static/swagger-ui.css'])(
    'has the headers for HEAD that it has for GET: %s',
    async (path) => {
      for (const accepted of ['gzip', 'identity']) {
        const [got, head] = [await get(path, accepted), await get(path, accepted, 'HEAD')];
        const described = ({ headers }: typeof got) => [
          headers['content-encoding'],
          headers['content-type'],
          headers.vary,
          headers.etag,
        ];
        expect([accepted, head.status, head.text, ...described(head)]).toEqual([accepted, 200, '', ...described(got)]);
        expect(got.coding).toBe(accepted === 'gzip' ? 'gzip' : undefined);
        // Metrics differ from request to request.
        if (path !== '/metrics' && head.headers['content-length'] !== undefined) {
          expect(head.headers['content-length']).toBe(`${got.length}`);
        }
      }
    },
  );

  test('has a strong entity tag for each coding, and one weak tag for all', async () => {
    expect((await get('/long')).headers.etag).toBe('"1"');
    for (const coding of codings) {
      const tag = (await get('/long', coding)).headers.etag!;
      expect(tag).toBe(`"1.${coding}"`);
      expect((await get('/weak', coding)).headers.etag).toBe('W/"1"');
    }
  });
});

test('If-None-Match with the tag of a compressed response gets 304 with that tag', async () => {
  const { headers } = await get('/record', 'gzip');
  const tag = headers.etag!;
  expect(tag).toMatch(/^"[^"]+\.gzip"$/);
  for (const method of ['GET', 'HEAD']) {
    for (const known of [tag, `W/${tag}`]) {
      const headers = { 'if-none-match': `"other", ${known}` };
      const response = await openResponse('/record', 'gzip', method, service, headers);
      expect([method, known, response.statusCode, (await buffer(response)).length]).toEqual([method, known, 304, 0]);
      expect([response.headers.etag, response.headers.vary, response.headers['content-encoding']]).toEqual([
        known,
        'accept-encoding',
        undefined,
      ]);
    }
    const changed = await openResponse('/record', 'gzip', method, service, { 'if-none-match': '"other.gzip"' });
    expect([changed.statusCode, changed.headers.etag]).toEqual([200, tag]);
    changed.resume();
  }
});

test.each(['/short', '/image', '/nowhere'])('%s is not compressed, and does not vary', async (path) => {
  const { coding, headers } = await get(path, 'gzip, br, zstd');
  expect([coding, headers.vary]).toEqual([undefined, undefined]);
});

test('What is compressed already stays as it is', async () => {
  const response = await openResponse('/compressed', 'gzip, br, zstd');
  expect([response.headers['content-encoding'], (await buffer(response)).length]).toEqual(['br', 10_000]);
});

test.each([undefined, ...codings])(
  'A failure before the first chunk is plain JSON, for a page too (%s)',
  async (coding) => {
    const { status, headers, coding: used, text } = await get('/broken', coding);
    expect([status, headers['content-type'], used]).toEqual([500, 'application/json; charset=utf-8', undefined]);
    expect(JSON.parse(text)).toEqual({ message: 'Database error', error: { code: 'EMFILE' } });
  },
);

describe('A stream', () => {
  test.each([
    ['br', createBrotliDecompress],
    ['gzip', createGunzip],
    ['zstd', createZstdDecompress],
  ] as const)('is flushed with each chunk (%s)', async (coding, decoder) => {
    const text = (await openResponse('/list', coding)).pipe(decoder());
    let received = '';
    for await (const part of text) {
      received += String(part);
      // The service waits for this.
      if (received.endsWith('"Row number 100"}')) sendSecond();
    }
    expect(JSON.parse(received)).toEqual([...rows, ...rows]);
  });

  test.each(codings)('releases what it holds when its reader leaves (%s)', async (coding) => {
    const response = await openResponse('/endless', coding);
    await once(response, 'readable');
    expect(open.size).toBe(1);
    const [source] = open;
    response.destroy();
    await closed(source!);
    expect(open.size).toBe(0);
  });

  test.each(codings)('is aborted, not complete, when it fails in the middle (%s)', async (coding) => {
    const response = await openResponse('/failing', coding);
    await once(response, 'readable');
    sendSecond();
    await expect(buffer(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('beyond the 16th is sent plain, until one has been read or left', async () => {
    const streams = await Promise.all(Array.from({ length: 20 }, () => openResponse('/endless', 'gzip')));
    const compressed = streams.filter(({ headers }) => headers['content-encoding'] === 'gzip');
    expect(compressed).toHaveLength(16);
    expect(new Set(streams.map(({ headers }) => headers.vary))).toEqual(new Set(['accept-encoding']));
    const all = [...open].map(closed);
    for (const stream of streams) stream.destroy();
    await Promise.all(all);
    const next = await openResponse('/endless', 'gzip');
    expect(next.headers['content-encoding']).toBe('gzip');
    next.destroy();
  });
});

test('COMPRESSION=false sends everything as it is', async () => {
  const plain = await startTest({ COMPRESSION: 'false' });
  for (const path of ['/long', '/metrics', '/chunks']) {
    const { coding, headers } = await get(path, 'gzip, br, zstd', 'GET', plain);
    expect([path, coding, headers.vary ?? '']).toEqual([path, undefined, expect.not.stringMatching(/encoding/)]);
  }
});
