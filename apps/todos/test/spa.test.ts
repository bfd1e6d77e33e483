import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serve } from '@rest-services/service/testing';
import { buildApp } from '../src/app.ts';
import { migrations } from '../src/database.ts';

let service: Awaited<ReturnType<typeof startTodos>>;
const startTodos = () => serve({ migrations, buildApp }, { NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' });

beforeAll(async () => {
  service = await startTodos();
});
afterAll(() => service.stop());

async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(service.url + path, { method, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('In production mode', () => {
  test.each(['/', '/todos', '/todos/1', '/todos/new', '/todos/edit/1', '/anything/else', '/api', '/api/todo'])(
    'GET %s answers the index page, which is not cached',
    async (path) => {
      const page = await get(path, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(page.headers.get('cache-control')).toBe('no-cache');
      expect(page.text).toMatch(/^<!doctype html>/i);
    },
  );

  test('the page may run and load what the service serves, and nothing else', async () => {
    const policy = (await get('/')).headers.get('content-security-policy');
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('unsafe');
  });

  test.each(['*/*', 'text/*', undefined])('a caller that accepts %s gets the page', async (accept) => {
    expect((await get('/todos', accept ? { accept } : {})).text).toMatch(/^<!doctype html>/i);
  });

  test('a caller that asks only for JSON gets 404 with a JSON message', async () => {
    const { status, text } = await get('/api/todo', { accept: 'application/json' });
    expect([status, JSON.parse(text)]).toEqual([404, { message: 'Not found' }]);
  });

  test.each(['POST', 'PUT', 'DELETE'])('%s on an unknown path answers 404 JSON', async (method) => {
    const { status, text } = await get('/todos', { accept: 'text/html' }, method);
    expect([status, JSON.parse(text)]).toEqual([404, { message: 'Not found' }]);
  });

  test('the API and the service’s own paths are not shadowed by the page', async () => {
    for (const path of ['/api/todos', '/livez', '/readyz', '/openapi.json']) {
      const { status, headers } = await get(path, { accept: 'text/html' });
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'application/json; charset=utf-8']);
    }
    expect((await get('/docs')).text).toContain('swagger-ui');
  });

  test('no file outside the public folder can be read', async () => {
    for (const path of [
      '/../package.json',
      '/%2e%2e/package.json',
      '/..%2fpackage.json',
      '/assets/../../package.json',
    ]) {
      expect((await get(path)).text).not.toContain('"name"');
    }
  });

  test('no other origin is allowed', async () => {
    expect(
      (await get('/api/todos', { origin: 'http://localhost:1' })).headers.get('access-control-allow-origin'),
    ).toBeNull();
  });
});
