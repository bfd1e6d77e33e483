import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { createService, type Settings } from '../src/index.ts';
import { serve } from '../test/serve.ts';

const overloaded = { message: 'The service is overloaded, try again in a moment' };

let service: Awaited<ReturnType<typeof start>>;
const start = () => serve({ migrations: {}, buildApp });
beforeEach(async () => {
  service = await start();
});
afterEach(() => service.stop());

async function buildApp(_db: unknown, settings: Settings) {
  const app = await createService({
    settings,
    title: 'Test',
    description: 'A.',
    failure: 'Failure',
    includeCode: false,
  });
  const body = Type.Object({ text: Type.String() });
  app.post('/texts', { schema: { body, response: { 200: Type.Integer() } } }, ({ body: { text } }) => text.length);
  app.get('/busy', { schema: { response: { 200: Type.Integer() } } }, () => {
    const startedAt = performance.now();
    while (performance.now() - startedAt < 400);
    return 1;
  });
  return app;
}

test('While the processor has more to do than it can, requests are answered 503 with Retry-After, and probes are answered', async () => {
  const isRefused = (answer: Awaited<ReturnType<typeof service.request>>) => answer.status === 503;
  let refused: Awaited<ReturnType<typeof service.request>> | undefined;
  while (!refused) {
    const answers = await Promise.all(Array.from({ length: 6 }, () => service.request('GET', '/busy')));
    refused = answers.find(isRefused);
  }
  expect([refused.headers.get('retry-after'), refused.body]).toEqual(['1', overloaded]);
  expect(refused.headers.get('access-control-allow-origin')).toBe('*');
  expect((await service.request('GET', '/livez')).status).toBe(200);
  let answer = await service.request('POST', '/texts', { text: 'a' });
  while (isRefused(answer)) answer = await service.request('POST', '/texts', { text: 'a' });
  expect(answer.body).toBe(1);
});

test('A pause of the process, such as that of a whole machine, is no overload: nobody is refused after it', async () => {
  while (!service.app.isUnderPressure()) {
    await Promise.all(Array.from({ length: 3 }, () => service.request('GET', '/busy')));
  }
  expect((await service.request('POST', '/texts', { text: 'a' })).body).toBe(1);
});
