import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { afterAll, describe, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';

const service = await startService('dist/main.js', { NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' });
afterAll(() => service.stop());

async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(service.url + path, { method, headers });
  return { path, status: response.status, headers: response.headers, text: await response.text() };
}

/** What the index page loads. */
async function assetPaths() {
  const { text } = await get('/');
  return [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => match[1]!);
}

const isPage = /^<!doctype html>/i;
const notFound = { status: 404, text: '{"message":"Not found"}' };

describe('In production mode', () => {
  test.each(['/', '/todos/', '/todos/edit/1', '/todos/1.html', '/users/john.doe', '/v1.2/assets', '/api/todo'])(
    'GET %s answers the index page, which is not cached, and HEAD without it',
    async (path) => {
      const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, text } = await get(path, { accept }, method);
        expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
        expect(headers.get('cache-control')).toBe('no-cache');
        if (path !== '/') expect(headers.get('vary')).toMatch(/\baccept\b(?!-)/);
        expect(text).toMatch(method === 'GET' ? isPage : /^$/);
      }
    },
  );

  test.each(['*/*', 'text/*', 'TEXT/HTML', 'text/html;charset=UTF-8', 'application/xhtml+xml', undefined])(
    'a caller that accepts %s gets the page',
    async (accept) => {
      expect((await get('/todos', accept ? { accept } : {})).text).toMatch(isPage);
    },
  );

  test.each([
    'application/json',
    'application/json, text/html;q=0',
    'application/json;profile="text/html"',
    'x-text/*',
  ])('a caller that asks for %s gets 404 with a JSON message', async (accept) => {
    expect(await get('/api/todo', { accept })).toMatchObject(notFound);
  });

  const endings = ['js', 'css', 'map', 'json', 'webmanifest', 'ico', 'png', 'svg', 'woff2', 'txt', 'xml'];
  const files = ['/assets/nope', '/assets/1.html', '//api/todos', '/todos//1', '/x.CSS?y=1'];
  test.each([...files, ...endings.map((ending) => `/todos/x.${ending}`)])(
    'GET %s, which can only be a file or nothing, is 404',
    async (path) => {
      expect(await get(path, { accept: 'text/html,*/*' })).toMatchObject(notFound);
    },
  );

  test.each(['document', 'iframe', 'empty', 'script', 'style', 'image', 'font', 'serviceworker', 'video'])(
    'what a browser fetches as %s from a path without an ending is a page only where one can be shown',
    async (destination) => {
      // fetch() of Node.js, like that of a browser, sets the header itself.
      const sent = request(`${service.url}/todos/x`, { headers: { 'sec-fetch-dest': destination } }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      const isPart = !['document', 'iframe', 'empty'].includes(destination);
      expect([response.statusCode, response.headers.vary]).toEqual([
        isPart ? 404 : 200,
        expect.stringContaining('sec-fetch-dest'),
      ]);
    },
  );

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
    ['/licenses.txt', 'text/plain; charset=utf-8', /^## preact[^]*Permission is hereby granted/m],
  ])('%s is what its name says, and is not cached', async (path, type, content) => {
    const { status, headers, text } = await get(path);
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(text).toMatch(content);
  });

  test('each file has a tag of its content in each coding, by which it is not sent again', async () => {
    const seen = new Set<string | null>();
    const paths = ['/', '/todos', '/sw.js', '/manifest.webmanifest', '/icon-192.png', '/favicon.svg'];
    for (const path of [...paths, ...(await assetPaths())]) {
      const { headers } = await get(path, { 'accept-encoding': 'gzip' });
      const tag = headers.get('etag');
      expect([path, tag]).toEqual([path, expect.stringMatching(/^"[\w-]{27}"$/)]);
      expect([path, headers.get('last-modified')]).toEqual([path, null]);
      seen.add(tag);
      for (const known of [tag!, `"another", W/${tag}`]) {
        const again = await get(path, { 'accept-encoding': 'gzip', 'if-none-match': known });
        expect(again).toMatchObject({ path, status: 304, text: '' });
        expect(again.headers.get('cache-control')).toBe(headers.get('cache-control'));
      }
      expect(await get(path, { 'if-none-match': '"another"' })).toMatchObject({ path, status: 200 });
    }
    // Home and list are the same page.
    expect(seen.size).toBe(paths.length - 1 + 2);
    const tagIn = async (coding: string) => (await get('/', { 'accept-encoding': coding })).headers.get('etag');
    expect(await tagIn('gzip')).not.toBe(await tagIn('identity'));
  });

  test('a connection stays open after a file that is not sent again', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const [path] = await assetPaths();
    const { headers } = await get(path!, { 'accept-encoding': 'identity' });
    let connections = 0;
    for (let n = 0; n < 200; n += 1) {
      const sent = request(service.url + path!, { agent, headers: { 'if-none-match': headers.get('etag')! } }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      await once(response.resume(), 'end');
      expect(response.statusCode).toBe(304);
      if (!sent.reusedSocket) connections += 1;
    }
    agent.destroy();
    expect(connections).toBe(1);
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

  test.each(['br', 'gzip'])('pages and assets come compressed with %s, by the same address', async (encoding) => {
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
    expect(await get(`${(await assetPaths())[0]!}.br`)).toMatchObject(notFound);
  });

  test('the page may run and load what the service serves, and nothing else', async () => {
    const { headers } = await get('/todos');
    const policy = headers.get('content-security-policy');
    expect(policy).not.toMatch(/unsafe|data:|\*/);
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "manifest-src 'self'; worker-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'; trusted-types service-worker",
    ]) {
      expect(policy).toContain(rule);
    }
    // No other site may open, embed or learn the address of a page.
    expect(Object.fromEntries(headers)).toMatchObject({
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    const { headers: ofApi } = await get('/api/todos', { origin: 'http://localhost:1' });
    expect(ofApi.get('access-control-allow-origin')).toBeNull();
  });

  test.each([
    ['/todos', 'GET, HEAD, OPTIONS'],
    ['/licenses.txt', 'GET, HEAD, OPTIONS'],
    ['/api/todos', 'GET, HEAD, POST, PUT, OPTIONS'],
    ['/api/todos/1', 'GET, HEAD, OPTIONS'],
  ])('OPTIONS of %s responds 204 with Allow, as the 404 to other methods has it', async (path, allow) => {
    const options = await get(path, {}, 'OPTIONS');
    expect([options.status, options.headers.get('allow')]).toEqual([204, allow]);
    const other = await get(path, { accept: 'text/html' }, 'DELETE');
    expect(other).toMatchObject(notFound);
    expect(other.headers.get('allow')).toBe(allow);
  });

  test('the API and the service’s own paths are not shadowed by the page', async () => {
    for (const path of ['/api/todos', '/livez', '/readyz', '/openapi.json']) {
      const { status, headers } = await get(path, { accept: 'text/html' });
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'application/json; charset=utf-8']);
    }
    const { status, text } = await get('/api/todos/a', { accept: 'text/html' });
    expect([status, text]).toEqual([400, '{"message":"Invalid id"}']);
    expect((await get('/docs')).text).toContain('swagger-ui');
  });

  test('no file outside the public folder can be read', async () => {
    for (const path of ['/../package.json', '/%2e%2e/package.json', '/..%2fpackage.json', '/assets/../../package.json'])
      expect((await get(path)).text).not.toContain('"name"');
  });
});
