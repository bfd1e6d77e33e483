import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildApp } from './notes/app.ts';
import { migrations } from './notes/database.ts';
import { serve } from './serve.ts';

const startNotes = (NODE_ENV: string) => serve({ migrations, buildApp }, { NODE_ENV });

const NOT_FOUND = { message: 'Not found' };

describe.each([
  ['Without CORS', 'production'],
  ['With CORS', 'development'],
])('%s', (_, NODE_ENV) => {
  let service: Awaited<ReturnType<typeof startNotes>>;
  beforeAll(async () => {
    service = await startNotes(NODE_ENV);
  });
  afterAll(() => service.stop());

  test.each([
    ['/notes', 'GET, HEAD, POST, OPTIONS'],
    ['/notes/', 'GET, HEAD, POST, OPTIONS'],
    ['/notes?page=/notes/1', 'GET, HEAD, POST, OPTIONS'],
    ['/notes/1', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['/notes/%ff', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['/notes/summary', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['/livez', 'GET, HEAD, OPTIONS'],
    ['/openapi.json', 'GET, HEAD, OPTIONS'],
    ['/docs/', 'GET, HEAD, OPTIONS'],
  ])('OPTIONS of %s responds 204 with the methods in Allow', async (path, allow) => {
    const { status, headers, body } = await service.request('OPTIONS', path);
    expect([status, headers.get('allow'), body]).toEqual([204, allow, undefined]);
  });

  test.each([undefined, { title: 'a' }, '{'])(
    'the 404 to another method has Allow, whatever is sent (%j)',
    async (body) => {
      for (const [method, path, allow] of [
        ['PUT', '/notes', 'GET, HEAD, POST, OPTIONS'],
        ['PATCH', '/notes', 'GET, HEAD, POST, OPTIONS'],
        ['POST', '/notes/1', 'GET, HEAD, PUT, DELETE, OPTIONS'],
      ] as const) {
        const response = await service.request(method, path, body);
        expect([response.status, response.body, response.headers.get('allow')]).toEqual([404, NOT_FOUND, allow]);
      }
    },
  );

  test.each([
    ['GET', '/nowhere'],
    ['DELETE', '/%zz'],
    ['GET', '/docs/static/nothing'],
    ['GET', '/notes/0'],
    ['GET', '/notes'],
  ])('no other response has Allow: %s %s', async (method, path) => {
    expect((await service.request(method, path)).headers.get('allow')).toBeNull();
  });
});

test('OPTIONS of an unknown path responds 404 without CORS, as before', async () => {
  const service = await startNotes('production');
  for (const path of ['/nowhere', '/%zz']) {
    const { status, headers, body } = await service.request('OPTIONS', path);
    expect([path, status, headers.get('allow'), body]).toEqual([path, 404, null, NOT_FOUND]);
  }
});

test('OPTIONS and the 404 to other methods have Allow for origins that CORS_ORIGIN names, and for others', async () => {
  const service = await serve({ migrations, buildApp }, { CORS_ORIGIN: 'https://a.example' });
  for (const origin of ['https://a.example', 'https://b.example']) {
    for (const [method, status, body] of [
      ['OPTIONS', 204, undefined],
      ['PATCH', 404, NOT_FOUND],
    ] as const) {
      const response = await service.request(method, '/notes', undefined, { origin });
      expect([origin, response.status, response.body, response.headers.get('allow')]).toEqual([
        origin,
        status,
        body,
        'GET, HEAD, POST, OPTIONS',
      ]);
    }
  }
});
