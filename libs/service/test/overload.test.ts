import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { createService, type Settings } from '../src/index.ts';
import { serve } from './testing.ts';

const MiB = 1_024 ** 2;
const overloaded = { message: 'The service is overloaded, try again in a moment' };

let service: Awaited<ReturnType<typeof start>>;
const start = () => serve({ migrations: {}, buildApp });
beforeEach(async () => {
  service = await start();
});
afterEach(() => service.stop());

async function buildApp(_db: unknown, settings: Settings) {
  const app = await createService({ settings, title: 'Test', description: 'A.', failure: 'Failure', withCode: false });
  const body = Type.Object({ text: Type.String() });
  app.post('/texts', { schema: { body, response: { 200: Type.Integer() } } }, ({ body: { text } }) => text.length);
  app.get('/busy', { schema: { response: { 200: Type.Integer() } } }, () => {
    const startedAt = performance.now();
    while (performance.now() - startedAt < 400);
    return 1;
  });
  return app;
}

/** Sends all of a body but its last byte. */
function sendUnfinished(headers: Record<string, string>, piece: string, pieces: number) {
  const post = request(`${service.url}/texts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  });
  for (let sent = 0; sent < pieces; sent += 1) post.write(piece);
  return post;
}

const answered = async (post: ClientRequest) => ((await once(post, 'response')) as [IncomingMessage])[0];

async function firstRefused(posts: ClientRequest[]) {
  posts.forEach((post) => post.on('error', () => undefined));
  const response = await Promise.race(posts.map(answered));
  return [response.statusCode, response.headers['retry-after'], await json(response)];
}

describe('Bodies that are slow to arrive', () => {
  test.each([
    ['of a known length', { 'content-length': `${MiB}` }, 'x'.repeat(65_535), 15, 100],
    ['chunked', {}, 'x'.repeat(65_535), 15, 100],
    ['in pieces of a byte each', {}, 'x', 20_000, 20],
  ])(
    '%s hold no more than 64 MiB together: the rest gets 503 with Retry-After',
    async (_, headers: Record<string, string>, piece, pieces, count) => {
      const posts = Array.from({ length: count }, () => sendUnfinished(headers, piece, pieces));
      expect(await firstRefused(posts)).toEqual([503, '1', overloaded]);

      // Whoever sends little is served meanwhile, and everybody when the slow ones have gone.
      expect((await service.request('POST', '/texts', { text: 'a' })).body).toBe(1);
      posts.forEach((post) => post.destroy());
      const large = { text: 'x'.repeat(MiB - 100) };
      let answer = await service.request('POST', '/texts', large);
      while (answer.status === 503) answer = await service.request('POST', '/texts', large);
      expect(answer.body).toBe(MiB - 100);
    },
  );
});

test('While the processor has more to do than it can, requests are answered 503 with Retry-After, and probes are answered', async () => {
  const isRefused = (answer: Awaited<ReturnType<typeof service.request>>) => answer.status === 503;
  let refused: Awaited<ReturnType<typeof service.request>> | undefined;
  while (!refused) {
    const answers = await Promise.all(Array.from({ length: 6 }, () => service.request('GET', '/busy')));
    refused = answers.find(isRefused);
  }
  expect([refused.headers.get('retry-after'), refused.body]).toEqual(['1', overloaded]);
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
