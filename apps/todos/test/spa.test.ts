import { afterAll, describe, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';

const service = await startService('dist/main.js', { NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' });
afterAll(() => service.stop());

async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(service.url + path, { method, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** What the index page loads. */
async function assetPaths() {
  const { text } = await get('/');
  return [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => match[1]!);
}

describe('In production mode', () => {
  test.each([
    '/',
    '/todos',
    '/todos/1',
    '/todos/new',
    '/todos/edit/1',
    '/anything/else',
    '/todos/%',
    '/api',
    '/api/todo',
  ])('GET %s answers the index page, which is not cached', async (path) => {
    const page = await get(path, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    if (path !== '/') expect(page.headers.get('vary')).toMatch(/\baccept\b(?!-)/);
    expect(page.text).toMatch(/^<!doctype html>/i);
  });

  test('assets are named by their content: each is immutable for a year', async () => {
    const assets = await assetPaths();
    expect(assets).toEqual([expect.stringMatching(/\.js$/), expect.stringMatching(/\.css$/)]);
    for (const path of assets) {
      const { status, headers } = await get(path);
      expect([path, status, headers.get('cache-control')]).toEqual([path, 200, 'public, max-age=31536000, immutable']);
    }
  });

  test.each([
    ['/robots.txt', 'text/plain; charset=utf-8', /^User-agent: \*$/m],
    ['/manifest.webmanifest', 'application/manifest+json', /"start_url": "\/todos"/],
    ['/sw.js', 'application/javascript; charset=utf-8', /addEventListener\(.fetch/],
  ])('%s is what its name says, and is not cached', async (path, type, content) => {
    const { status, headers, text } = await get(path);
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(text).toMatch(content);
  });

  test('a range of a file: 206, 416 with its length where it lacks the range, and 200 with If-Range', async () => {
    const { text } = await get('/robots.txt');
    const range = async (headers: Record<string, string>) => {
      const response = await get('/robots.txt', headers);
      return [response.status, response.headers.get('content-range')];
    };
    expect(await range({ range: 'bytes=0-3' })).toEqual([206, `bytes 0-3/${text.length}`]);
    expect(await range({ range: 'bytes=999-' })).toEqual([416, `bytes */${text.length}`]);
    const date = 'Fri, 01 Jan 2100 00:00:00 GMT';
    expect(await range({ range: 'bytes=0-3', 'if-range': date })).toEqual([200, null]);
  });

  test('licenses.txt holds the licences of what the pages are made of', async () => {
    const { status, headers, text } = await get('/licenses.txt');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const [, ...sections] = text.split(/^## /m);
    expect(sections.map((section) => section.split(' ')[0]).sort()).toEqual(['preact']);
    for (const section of sections) expect(section).toMatch('Permission is hereby granted');
  });

  test('each file has a tag of its content in each coding, by which it is not sent again', async () => {
    const seen = new Set<string | null>();
    const paths = ['/', '/todos', '/sw.js', '/manifest.webmanifest', '/icon-192.png', '/favicon.svg', '/robots.txt'];
    for (const path of [...paths, ...(await assetPaths())]) {
      const { headers } = await get(path, { 'accept-encoding': 'gzip' });
      const tag = headers.get('etag');
      expect([path, tag]).toEqual([path, expect.stringMatching(/^"[\w-]{27}(\.gzip)?"$/)]);
      expect([path, headers.get('last-modified')]).toEqual([path, null]);
      seen.add(tag);
      for (const known of [tag!, `"another", W/${tag}`]) {
        const again = await get(path, { 'accept-encoding': 'gzip', 'if-none-match': known });
        expect([path, again.status, again.text]).toEqual([path, 304, '']);
        expect(again.headers.get('cache-control')).toBe(headers.get('cache-control'));
      }
      const changed = await get(path, { 'if-none-match': '"another"' });
      expect([path, changed.status]).toEqual([path, 200]);
    }
    // Home and list are the same page.
    expect(seen.size).toBe(paths.length - 1 + 2);
    const tagIn = async (coding: string) => (await get('/', { 'accept-encoding': coding })).headers.get('etag');
    expect(await tagIn('gzip')).not.toBe(await tagIn('identity'));
  });

  test.each(['/assets/nope.js', '/favicon.ico', '/todos/1.html', '/a/b.webmanifest', '/x.css?y=1'])(
    'GET %s, which names a file that is not there, is 404',
    async (path) => {
      const { status, text } = await get(path, { accept: 'text/html,*/*' });
      expect([status, JSON.parse(text)]).toEqual([404, { message: 'Not found' }]);
    },
  );

  test.each(['br', 'gzip'])('pages and assets are compressed with %s for who accepts it', async (encoding) => {
    for (const path of ['/', '/todos/1', ...(await assetPaths())]) {
      const plain = await get(path, { 'accept-encoding': 'identity' });
      const compressed = await get(path, { 'accept-encoding': encoding });
      expect([path, plain.headers.get('content-encoding')]).toEqual([path, null]);
      expect([path, compressed.headers.get('content-encoding')]).toEqual([path, encoding]);
      expect(compressed.headers.get('vary')).toMatch(/accept-encoding/i);
      expect(compressed.headers.get('content-type')).toBe(plain.headers.get('content-type'));
      expect(Number(compressed.headers.get('content-length'))).toBeLessThan(plain.text.length);
      expect(compressed.text).toBe(plain.text);
    }
  });

  test('compressed files have no address of their own', async () => {
    const [script] = await assetPaths();
    expect((await get(`${script!}.br`)).status).toBe(404);
  });

  test('HEAD answers as GET does, without the page', async () => {
    const { status, headers, text } = await get('/todos', {}, 'HEAD');
    expect([status, headers.get('content-type'), text]).toEqual([200, 'text/html; charset=utf-8', '']);
  });

  test('the page may run and load what the service serves, and nothing else', async () => {
    const policy = (await get('/')).headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toMatch(/unsafe|data:|\*/);
    expect(policy).toContain("form-action 'self'");
    expect(policy).toContain("base-uri 'none'");
    expect(policy).toContain("manifest-src 'self'; worker-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types service-worker");
  });

  test('no other site may open, embed or learn the address of a page', async () => {
    expect(Object.fromEntries((await get('/todos')).headers)).toMatchObject({
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  });

  test.each(['*/*', 'text/*', 'TEXT/HTML', 'text/html;charset=UTF-8', 'application/xhtml+xml', undefined])(
    'a caller that accepts %s gets the page',
    async (accept) => {
      expect((await get('/todos', accept ? { accept } : {})).text).toMatch(/^<!doctype html>/i);
    },
  );

  test.each([
    'application/json',
    'application/json, text/html;q=0',
    'application/json;profile="text/html"',
    'x-text/*',
  ])('a caller that asks for %s gets 404 with a JSON message', async (accept) => {
    const { status, text } = await get('/api/todo', { accept });
    expect([status, JSON.parse(text)]).toEqual([404, { message: 'Not found' }]);
  });

  test.each(['POST', 'PUT', 'DELETE'])('%s on an unknown path answers 404 JSON', async (method) => {
    const { status, text } = await get('/todos', { accept: 'text/html' }, method);
    expect([status, JSON.parse(text)]).toEqual([404, { message: 'Not found' }]);
  });

  test.each([
    ['/todos', 'GET, HEAD, OPTIONS'],
    ['/licenses.txt', 'GET, HEAD, OPTIONS'],
    ['/api/todos', 'GET, HEAD, POST, PUT, OPTIONS'],
    ['/api/todos/%ff', 'GET, HEAD, OPTIONS'],
  ])('OPTIONS of %s responds 204 with Allow, as the 404 to other methods has it', async (path, allow) => {
    for (const [method, expected] of [
      ['OPTIONS', 204],
      ['DELETE', 404],
    ] as const) {
      const { status, headers } = await get(path, {}, method);
      expect([method, status, headers.get('allow')]).toEqual([method, expected, allow]);
    }
  });

  test('an id that cannot be decoded is not shadowed by the page', async () => {
    const { status, text } = await get('/api/todos/%ff', { accept: 'text/html' });
    expect([status, JSON.parse(text)]).toEqual([400, { message: 'Invalid id' }]);
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
