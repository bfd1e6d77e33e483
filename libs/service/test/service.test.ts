import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { createService, Message, sendList, type Settings } from '../src/index.ts';
import { serve } from './serve.ts';

const start = (environment: NodeJS.ProcessEnv = {}) => serve({ migrations: {}, buildApp }, environment);
/** For the tests that need no settings; the others have a service of their own. */
const shared = await start();
let service = shared;
afterEach(async () => {
  if (service !== shared) await service.stop();
  service = shared;
});
afterAll(() => shared.stop());

/** What pino's loggers can do beyond what Fastify asks of a logger. */
interface PinoLogger {
  level: string;
  bindings: () => object;
  setBindings: (bindings: object) => void;
  child: (bindings: object) => PinoLogger;
  isLevelEnabled: (level: string) => boolean;
}

/** Of `/list`, after its first chunk. */
let chunksRead: number;

async function buildApp(_db: unknown, settings: Settings) {
  const app = await createService({
    settings,
    title: 'Test',
    description: 'A service.',
    failure: 'Database error',
    includeCode: true,
  });
  app.get('/', { schema: { response: { 200: Message } } }, () => ({ message: 'ok' }));
  app.get('/stream', { schema: { hide: true } }, (_request, reply) =>
    reply.header('referrer-policy', 'origin').send(Readable.from(['[', ']'])),
  );
  app.get('/list', { schema: { hide: true } }, (_request, reply) => {
    chunksRead = 0;
    const next = () => {
      chunksRead += 1;
      return Promise.resolve({ rows: [{ id: 2 }], next: undefined });
    };
    return sendList(reply, { rows: [{ id: 1 }], next });
  });
  app.get('/logger', { schema: { hide: true } }, ({ id, log }) => {
    const logger = log as unknown as PinoLogger;
    logger.setBindings({ user: id });
    logger.level = 'fatal';
    return [logger.bindings(), logger.child({ job: 1 }).bindings(), logger.isLevelEnabled('error')];
  });
  const cannotOpen = Object.assign(new Error('No file can be opened'), { code: 'EMFILE' });
  app.get('/page', { schema: { hide: true } }, (_request, reply) =>
    reply.type('text/html').send(new Readable({ read: () => undefined, construct: (done) => done(cannotOpen) })),
  );
  const body = Type.Object({ text: Type.String({ maxLength: 3 }), note: Type.Optional(Type.String()) });
  app.post('/', { schema: { body, response: { 200: body } } }, (request) => request.body);
  return app;
}

async function allowedOrigin(origin: string) {
  const { headers } = await service.request('GET', '/', undefined, { origin });
  return headers.get('access-control-allow-origin');
}

describe('Cross-origin requests', () => {
  test('are allowed from any origin in development', async () => {
    service = await start({ NODE_ENV: 'development' });
    expect(await allowedOrigin('https://example.org')).toBe('*');
  });

  test('are allowed from none in production', async () => {
    service = await start({ NODE_ENV: 'production' });
    expect(await allowedOrigin('https://example.org')).toBeNull();
  });

  test('are allowed from the origins that CORS_ORIGIN names, and no others', async () => {
    service = await start({ NODE_ENV: 'production', CORS_ORIGIN: 'https://a.example, https://b.example:8443' });
    expect(await allowedOrigin('https://a.example')).toBe('https://a.example');
    expect(await allowedOrigin('https://b.example:8443')).toBe('https://b.example:8443');
    for (const other of [
      'https://b.example',
      'http://a.example',
      'https://a.example.evil',
      'https://a.example:1',
      'null',
    ]) {
      expect(await allowedOrigin(other)).toBeNull();
    }
  });

  test('are allowed from every port of an origin that ends with :*', async () => {
    service = await start({ CORS_ORIGIN: 'http://localhost:*' });
    expect(await allowedOrigin('http://localhost:8081')).toBe('http://localhost:8081');
    expect(await allowedOrigin('http://localhost')).toBe('http://localhost');
    expect(await allowedOrigin('http://localhost.evil:8081')).toBeNull();
  });

  test('let pages in a browser read the headers of the contracts', async () => {
    service = await start({ NODE_ENV: 'development' });
    const { headers } = await service.request('GET', '/', undefined, { origin: 'https://example.org' });
    expect(headers.get('access-control-expose-headers')).toBe(
      'etag, link, location, x-total-count, x-request-id, retry-after',
    );
  });

  test('may use every method of the contracts, as a preflight answers', async () => {
    service = await start({ CORS_ORIGIN: '*' });
    const headers = {
      origin: 'https://example.org',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'content-type',
    };
    const preflight = await service.request('OPTIONS', '/', undefined, headers);
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, PUT, DELETE');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type');
    expect(preflight.headers.get('access-control-max-age')).toBe('7200');
  });
});

describe('Every answer', () => {
  test('carries a request id, the caller’s own if it sent one of reasonable length in ASCII', async () => {
    const idOf = async (id: string) =>
      (await service.request('GET', '/', undefined, { 'x-request-id': id })).headers.get('x-request-id');
    expect(await idOf('abc-1')).toBe('abc-1');
    expect(await idOf('caf\xe9')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idOf('')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idOf('x'.repeat(129))).toMatch(/^[0-9a-f-]{36}$/);
    expect((await service.request('GET', '/nowhere')).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('is made with a logger of its own, whatever another request does with its logger', async () => {
    for (const id of ['a', 'b']) {
      const { body } = await service.request('GET', '/logger', undefined, { 'x-request-id': id });
      expect(body).toEqual([{ reqId: id, user: id }, { reqId: id, user: id, job: 1 }, false]);
    }
    const log = service.app.log as unknown as PinoLogger;
    expect([log.bindings(), log.level]).toEqual([{}, 'silent']);
  });

  test('forbids browsers to treat it as a page', async () => {
    for (const path of ['/', '/stream', '/nowhere', '/%zz']) {
      const { headers } = await service.request('GET', path);
      expect({ path, ...Object.fromEntries(headers) }).toMatchObject({
        path,
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      });
      // TLS ends at a proxy.
      expect(headers.get('strict-transport-security')).toBeNull();
    }
  });

  test('keeps what it says of itself, as pages and streams may', async () => {
    const page = await service.request('HEAD', '/docs/');
    expect(page.headers.get('content-security-policy')).toMatch(/script-src 'self'/);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    const stream = await service.request('GET', '/stream');
    expect(stream.headers.get('referrer-policy')).toBe('origin');
  });
});

test('A request that offers to go on in another protocol is answered like any other', async () => {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade, close\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 .*\{"message":"ok"\}$/s);
});

test('A connection that the system cannot hand over ends nothing', async () => {
  service.app.server.emit('error', Object.assign(new Error('accept ENOBUFS'), { code: 'ENOBUFS' }));
  expect((await service.request('GET', '/')).status).toBe(200);
});

test('A failure is JSON, even where a page was to be sent', async () => {
  const { status, headers, body } = await service.request('GET', '/page');
  expect([status, headers.get('content-type')]).toEqual([500, 'application/json; charset=utf-8']);
  expect(body).toEqual({ message: 'Database error', error: { code: 'EMFILE' } });
});

test('Of a long list, HEAD reads no more than its beginning', async () => {
  const { status, headers } = await service.request('HEAD', '/list');
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  expect(chunksRead).toBe(0);
  expect((await service.request('GET', '/list')).body).toEqual([{ id: 1 }, { id: 2 }]);
  expect(chunksRead).toBe(1);
});

describe('Bodies', () => {
  test('lose what the schema does not name, and null counts as not sent', async () => {
    expect((await service.request('POST', '/', { text: 'a', note: null, other: 1 })).body).toEqual({ text: 'a' });
    expect(await service.request('POST', '/', { text: null })).toMatchObject({
      status: 400,
      body: { message: 'Text cannot be empty' },
    });
  });

  test('are read without a byte order mark', async () => {
    expect((await service.request('POST', '/', '\ufeff{"text":"\ufeff"}')).body).toEqual({ text: '\ufeff' });
    expect((await service.request('POST', '/', '\ufeff')).body).toEqual((await service.request('POST', '/')).body);
  });

  test('are never converted to another type', async () => {
    for (const text of [12, true, ['a'], { a: 1 }]) {
      expect(await service.request('POST', '/', { text })).toMatchObject({
        status: 400,
        body: { message: 'Text must be a string' },
      });
    }
  });
});
