import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';

const service = await startService('dist/main.js', { NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' });

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
  const pages = ['/', '/todos?q=a', '/todos/1', '/todos/1.html', '/users/john.doe', '/v1.2/assets', '/api/todo'];
  test.each(pages)('GET %s responds with the page, preloads the list for it, and is not cached', async (path) => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, text } = await get(path, { accept }, method);
      expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(headers.get('cache-control')).toBe('no-cache');
      if (path !== '/') expect(headers.get('vary')).toMatch(/\baccept\b(?!-)/);
      const preload = '</api/todos>; rel=preload; as=fetch; crossorigin';
      expect(headers.get('link')).toBe(['/', '/todos?q=a'].includes(path) ? preload : null);
      expect(text).toMatch(method === 'GET' ? isPage : /^$/);
    }
  });

  test('a caller that accepts HTML gets the page, one of JSON alone a 404 in JSON', async () => {
    for (const accept of ['*/*', 'text/*', 'TEXT/HTML', 'text/html;charset=UTF-8', 'application/xhtml+xml'])
      expect([accept, (await get('/todos', { accept })).text]).toEqual([accept, expect.stringMatching(isPage)]);
    expect((await get('/todos')).text).toMatch(isPage);
    const json = 'application/json';
    for (const accept of [json, `${json}, text/html;q=0`, `${json};profile="text/html"`, 'x-text/*'])
      expect([accept, await get('/api/todo', { accept })]).toEqual([accept, expect.objectContaining(notFound)]);
  });

  const endings = ['js', 'css', 'map', 'json', 'webmanifest', 'ico', 'png', 'svg', 'woff2', 'txt', 'xml'];
  const files = ['/assets/nope', '/assets/1.html', '//api/todos', '/todos//1', '/x.CSS?y=1'];
  const paths = [...files, ...endings.map((ending) => `/todos/x.${ending}`)];
  test.each(paths)('GET %s, which can only be a file or nothing, is 404', async (path) => {
    expect(await get(path, { accept: 'text/html,*/*' })).toMatchObject(notFound);
  });

  const destinations = ['document', 'iframe', 'empty', 'script', 'style', 'image', 'font', 'serviceworker', 'video'];
  test.each(destinations)('as %s, a path without ending is the page only where one is shown', async (destination) => {
    const { status, headers } = await get('/todos/x', { 'sec-fetch-dest': destination });
    expect(status).toBe(['document', 'iframe', 'empty'].includes(destination) ? 200 : 404);
    expect(headers.get('vary')).toContain('sec-fetch-dest');
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
    const known = { 'if-none-match': headers.get('etag')! };
    for (let n = 0; n < 200; n += 1) {
      const sent = request(service.url + path!, { agent, headers: known }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      await once(response.resume(), 'end');
      expect([response.statusCode, sent.reusedSocket]).toEqual([304, n > 0]);
    }
    agent.destroy();
  });

  test.each(['br', 'gzip'])('pages and immutable assets come compressed with %s', async (encoding) => {
    const assets = await assetPaths();
    expect(assets).toEqual([expect.stringMatching(/\.js$/), expect.stringMatching(/\.css$/)]);
    for (const path of ['/', '/todos/1', ...assets]) {
      const plain = await get(path, { 'accept-encoding': 'identity' });
      const compressed = await get(path, { 'accept-encoding': encoding });
      expect([path, plain.headers.get('content-encoding')]).toEqual([path, null]);
      expect([path, compressed.headers.get('content-encoding')]).toEqual([path, encoding]);
      expect(compressed.headers.get('vary')).toMatch(/accept-encoding/i);
      expect(compressed.headers.get('content-type')).toBe(plain.headers.get('content-type'));
      expect(Number(compressed.headers.get('content-length'))).toBeLessThan(plain.text.length);
      expect(compressed.text).toBe(plain.text);
      const caching = assets.includes(path) ? 'public, max-age=31536000, immutable' : 'no-cache';
      expect([path, compressed.headers.get('cache-control')]).toEqual([path, caching]);
    }
    expect(await get(`${assets[0]!}.br`)).toMatchObject(notFound);
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

  test('other methods than GET are 404 where a page is', async () => {
    const { headers, ...other } = await get('/todos', { accept: 'text/html' }, 'DELETE');
    expect([other, headers.get('allow')]).toEqual([expect.objectContaining(notFound), 'GET, HEAD, OPTIONS']);
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
});
