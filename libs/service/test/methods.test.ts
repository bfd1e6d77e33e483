import { beforeAll, describe, expect, test } from '@jest/globals';
import { buildApp } from './notes/app.ts';
import { migrations } from './notes/database.ts';
import { serve } from './serve.ts';

const NOT_FOUND = { message: 'Not found' };

describe.each([
  ['Without CORS', { NODE_ENV: 'production' }],
  ['With CORS', { NODE_ENV: 'development' }],
  ['With CORS for another origin', { CORS_ORIGIN: 'https://b.example' }],
])('%s', (_, environment) => {
  const start = () => serve({ migrations, buildApp }, environment);
  let service: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    service = await start();
  });

  const request = (method: string, path: string, body?: unknown) =>
    service.request(method, path, body, { origin: 'https://a.example' });

  test.each([
    ['/notes', 'GET, HEAD, POST, OPTIONS'],
    ['/notes/', 'GET, HEAD, POST, OPTIONS'],
    ['/notes?page=/notes/1', 'GET, HEAD, POST, OPTIONS'],
    ['/notes/1', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['/notes/summary', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['/livez', 'GET, HEAD, OPTIONS'],
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

  test.each(['/nowhere', '/docs/static/nothing', '/notes/0', '/notes'])('GET %s has no Allow', async (path) => {
    expect((await request('GET', path)).headers.get('allow')).toBeNull();
  });
});

test('OPTIONS of an unknown path responds 404 without CORS', async () => {
  const service = await serve({ migrations, buildApp }, { NODE_ENV: 'production' });
  const { status, headers, body } = await service.request('OPTIONS', '/nowhere');
  expect([status, headers.get('allow'), body]).toEqual([404, null, NOT_FOUND]);
});
