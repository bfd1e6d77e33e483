import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { closedAtEnd, startService } from '@rest-services/testing';
import { chromium } from 'playwright-core';

/** Runs in the page: creates items, and gets their pages and an error. */
const script = (baseUrl: string) => `(async () => {
  const { fetchWithRetries, itemsClient, pages, unwrap } = await import('/index.js');
  const items = itemsClient({ baseUrl: '${baseUrl}', fetch: fetchWithRetries });
  for (const title of ['a', 'b', 'c']) await unwrap(items.POST('/v1/items', { body: { title } }));
  const titles = [];
  for await (const page of pages(items, '/v1/items', { params: { query: { limit: 2 } } })) {
    titles.push(page.map(({ title }) => title));
  }
  const error = await unwrap(items.POST('/v1/items', { body: { title: ' ' } })).catch((thrown) => thrown);
  return { titles, error: [error.name, error.status, error.message] };
})()`;

test('The package runs as it is in a page from another origin', async () => {
  const module = readFileSync(join(import.meta.dirname, '../dist/index.js'));
  const server = createServer(({ url }, response) => {
    if (url === '/index.js') response.writeHead(200, { 'content-type': 'text/javascript' }).end(module);
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Client</title>');
  });
  await once(server.listen(0, '127.0.0.1').unref(), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const service = await startService('../../apps/items/dist/main.js', { NODE_ENV: 'production', CORS_ORIGIN: origin });
  const browser = await chromium.connect(process.env.TEST_BROWSER_URL!);
  closedAtEnd(() => browser.close());
  const page = await browser.newPage();
  await page.goto(origin);
  expect(await page.evaluate(script(service.url))).toEqual({
    titles: [['a', 'b'], ['c']],
    error: ['ResponseError', 400, 'Title cannot be empty'],
  });
});
