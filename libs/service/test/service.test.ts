import { beforeAll, describe, expect, test } from '@jest/globals';
import { buildApp } from './notes/app.ts';
import { migrations } from './notes/database.ts';
import { serve } from './serve.ts';

const start = (environment?: NodeJS.ProcessEnv) => serve({ migrations, buildApp }, environment);
const service = await start();

test('Each response has a request id, its client’s own if that is 1 to 128 characters of ASCII', async () => {
  const idOf = async (path: string, headers?: Record<string, string>) =>
    (await service.request('GET', path, undefined, headers)).headers.get('x-request-id');
  expect(await idOf('/notes', { 'x-request-id': 'abc-1' })).toBe('abc-1');
  for (const id of ['caf\xe9', '', 'x'.repeat(129)])
    expect(await idOf('/notes', { 'x-request-id': id })).toMatch(/^[0-9a-f-]{36}$/);
  expect(await idOf('/nowhere')).toMatch(/^[0-9a-f-]{36}$/);
});

test('Browsers may treat no response as a page but those of /docs', async () => {
  for (const path of ['/notes', '/nowhere', '/%zz']) {
    const { headers } = await service.request('GET', path);
    expect({ path, ...Object.fromEntries(headers) }).toMatchObject({
      path,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    });
    // TLS ends at a proxy.
    expect(headers.get('strict-transport-security')).toBeNull();
  }
  expect(Object.fromEntries((await service.request('HEAD', '/docs/')).headers)).toMatchObject({
    'content-security-policy': expect.stringMatching(/script-src 'self'/),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
  });
});

test('A connection that the system cannot hand over ends nothing', async () => {
  service.app.server.emit('error', Object.assign(new Error('accept ENOBUFS'), { code: 'ENOBUFS' }));
  expect((await service.request('GET', '/notes')).status).toBe(200);
});

const NOT_FOUND = { message: 'Not found' };

describe.each<[string, NodeJS.ProcessEnv, Record<string, string | null>]>([
  ['In development', { NODE_ENV: 'development' }, { 'https://a.example': '*' }],
  ['In production', { NODE_ENV: 'production' }, { 'https://a.example': null }],
  [
    'With CORS_ORIGIN',
    { CORS_ORIGIN: 'https://b.example, https://c.example:8443, http://localhost:*' },
    {
      'https://b.example': 'https://b.example',
      'https://c.example:8443': 'https://c.example:8443',
      'http://localhost:8081': 'http://localhost:8081',
      'http://localhost': 'http://localhost',
      'http://localhost.evil:8081': null,
      'https://c.example': null,
      'http://b.example': null,
      'https://b.example.evil': null,
      'https://b.example:1': null,
      null: null,
    },
  ],
])('%s', (_, environment, origins) => {
  let service: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    service = await start(environment);
  });

  const request = (method: string, path: string, body?: unknown, origin = 'https://a.example') =>
    service.request(method, path, body, { origin });

  test('pages of the origins that are allowed may use the service, and no others', async () => {
    for (const [origin, allowed] of Object.entries(origins)) {
      const { headers } = await request('GET', '/notes', undefined, origin);
      expect([origin, headers.get('access-control-allow-origin')]).toEqual([origin, allowed]);
    }
  });

  test.each([
    ['/notes', 'GET, HEAD, POST, OPTIONS'],
    ['/notes/', 'GET, HEAD, POST, OPTIONS'],
    ['/notes?page=/notes/1', 'GET, HEAD, POST, OPTIONS'],
    ['/notes/summary', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['/docs/', 'GET, HEAD, OPTIONS'],
  ])('OPTIONS of %s responds 204 with the methods in Allow, without Content-Length', async (path, allow) => {
    const { status, headers, body } = await request('OPTIONS', path);
    expect([status, headers.get('allow'), headers.get('content-length'), body]).toEqual([204, allow, null, undefined]);
  });

  test.each([
    ['PUT', '/notes', undefined, 'GET, HEAD, POST, OPTIONS'],
    ['PATCH', '/notes', { title: 'a' }, 'GET, HEAD, POST, OPTIONS'],
    ['POST', '/notes/1', '{', 'GET, HEAD, PUT, DELETE, OPTIONS'],
  ])('the 404 to %s %s has Allow, whatever is sent (%j)', async (method, path, sent, allow) => {
    const { status, headers, body } = await request(method, path, sent);
    expect([status, body, headers.get('allow')]).toEqual([404, NOT_FOUND, allow]);
  });

  test.each(['/nowhere', '/NOTES', '/notes//1'])('GET %s is 404 Not found', async (path) => {
    const { status, body } = await request('GET', path);
    expect([status, body]).toEqual([404, NOT_FOUND]);
  });

  test.each(['/nowhere', '/docs/static/nothing', '/notes/0', '/notes'])('GET %s has no Allow', async (path) => {
    expect((await request('GET', path)).headers.get('allow')).toBeNull();
  });
});

test('A preflight allows each method of the contracts; pages may read their headers', async () => {
  const service = await start({ NODE_ENV: 'production', CORS_ORIGIN: '*' });
  const asked = { 'access-control-request-method': 'PUT', 'access-control-request-headers': 'content-type' };
  const preflight = await service.request('OPTIONS', '/notes', undefined, { origin: 'https://a.example', ...asked });
  expect([preflight.status, Object.fromEntries(preflight.headers)]).toMatchObject([
    204,
    {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
      'access-control-allow-headers': 'content-type',
      'access-control-expose-headers': 'etag, link, location, x-total-count, x-request-id, retry-after',
      'access-control-max-age': '7200',
    },
  ]);
});

test('OPTIONS of an unknown path responds 404 without CORS', async () => {
  const service = await start({ NODE_ENV: 'production' });
  const { status, headers, body } = await service.request('OPTIONS', '/nowhere');
  expect([status, headers.get('allow'), body]).toEqual([404, null, NOT_FOUND]);
});
