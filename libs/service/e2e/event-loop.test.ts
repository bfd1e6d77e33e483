import { afterEach, beforeEach, expect, test } from '@jest/globals';
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
  app.get('/busy', { schema: { response: { 200: Type.Integer() } } }, () => {
    const startedAt = performance.now();
    while (performance.now() - startedAt < 400);
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
  let answer = await post();
  while (answer.status === 503) answer = await post();
  expect(answer.body).toBe(1);
});

test('A pause of the process, such as that of a whole machine, is no overload', async () => {
  while (!service.app.isUnderPressure()) await keepBusy(3);
  expect((await post()).body).toBe(1);
});
