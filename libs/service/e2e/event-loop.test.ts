import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { served } from '@rest-services/testing';
import { Type } from 'typebox';
import type { Settings } from '../src/index.ts';
import { createTestApp } from '../test/http.ts';
import { serve } from '../test/serve.ts';

const start = () => serve({ migrations: {}, buildApp });
let service: Awaited<ReturnType<typeof start>>;
beforeEach(async () => {
  service = await start();
});
afterEach(() => service.stop());

async function buildApp(_db: unknown, settings: Settings) {
  const app = await createTestApp(settings);
  const body = Type.Object({ text: Type.String() });
  app.post('/texts', { schema: { body, response: { 200: Type.Integer() } } }, ({ body: { text } }) => text.length);
  for (const [path, ms] of Object.entries({ '/busy': 400, '/pause': 3_000 }))
    app.get(path, { schema: { response: { 200: Type.Integer() } } }, () => {
      const startedAt = performance.now();
      while (performance.now() - startedAt < ms);
      return 1;
    });
  return app;
}

const post = () => service.request('POST', '/texts', { text: 'a' });
const keepBusy = (requests: number) =>
  Promise.all(Array.from({ length: requests }, () => service.request('GET', '/busy')));

test('While an overload of the CPU lasts, requests get 503, and probes are answered', async () => {
  let refused;
  while (!refused) refused = (await keepBusy(6)).find(({ status }) => status === 503);
  const overloaded = { message: 'The service is overloaded, try again in a moment' };
  expect([refused.headers.get('retry-after'), refused.body]).toEqual(['1', overloaded]);
  expect(refused.headers.get('access-control-allow-origin')).toBe('*');
  expect((await service.request('GET', '/livez')).status).toBe(200);
  expect((await served(post)).body).toBe(1);
});

test('A pause of the process, such as that of a whole machine, is no overload', async () => {
  // A second one, before which the event loop was hardly measured.
  for (let turn = 0; turn < 2; turn += 1) expect((await service.request('GET', '/pause')).status).toBe(200);
  expect((await post()).body).toBe(1);
});
