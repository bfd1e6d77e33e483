import { once } from 'node:events';
import { get, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { List } from '@rest-services/database';
import { HttpError } from '@rest-services/errors';
import { memoryOf, served, startProcess } from '@rest-services/testing';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { sendList, type Settings } from '../src/index.ts';
import { createTestApp } from '../test/http.ts';
import { notesMain } from '../test/notes/bundled.ts';
import { notes } from '../test/process/notes-process.ts';
import { serve } from '../test/serve.ts';

const MiB = 1_024 ** 2;
const overloaded = { message: 'The service is overloaded, try again in a moment' };

/** Chunks of 8 MiB, together more than the memory for all of them. */
const LIST_CHUNKS = 6;

/** Number of lists that have their first rows in the same moment. */
const AT_ONCE = 10;

const start = () => serve({ migrations: {}, buildApp });
let service: Awaited<ReturnType<typeof start>>;
let chunksRead: number;
beforeEach(async () => {
  service = await start();
  chunksRead = 0;
});
afterEach(() => service.stop());

const chunks = (count: number): List<string> => {
  chunksRead += 1;
  return { rows: ['x'.repeat(8 * MiB)], next: count === 1 ? undefined : () => Promise.resolve(chunks(count - 1)) };
};

const allHaveBegun = Promise.withResolvers();

/** Lists by path. */
function lists() {
  const atOnce: (() => void)[] = [];
  const reads = [
    () => Promise.reject(new HttpError(503, 'No connection')),
    () => Promise.resolve({ rows: ['last'], next: undefined }),
  ];
  return {
    '/list': () => chunks(LIST_CHUNKS),
    '/growing': () => ({ rows: ['small'], next: () => allHaveBegun.promise.then(() => chunks(2)) }),
    '/overloaded': () => ({ rows: ['first'], next: () => reads.shift()!() }),
    '/at-once': async () => {
      await new Promise<void>((resolve) => {
        atOnce.push(resolve);
        if (atOnce.length === AT_ONCE) atOnce.forEach((begin) => begin());
      });
      return chunks(2);
    },
  } satisfies Record<string, () => List<string> | Promise<List<string>>>;
}

async function buildApp(_db: unknown, settings: Settings) {
  const app = await createTestApp(settings);
  const body = Type.Object({ text: Type.String() });
  const texts = Type.Array(Type.String());
  app.post('/texts', { schema: { body, response: { 200: Type.Integer() } } }, ({ body: { text } }) => text.length);
  // More than the system takes from a service whose reader does not read.
  app.get('/texts', { schema: { response: { 200: texts } } }, () => ['x'.repeat(11 * MiB)]);
  for (const [path, list] of Object.entries(lists()))
    app.get(path, { schema: { response: { 200: texts } } }, async (_request, reply) => sendList(reply, await list()));
  return app;
}

const answered = async (sent: ClientRequest) => {
  sent.on('error', () => undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response.on('error', () => undefined);
};
const open = (path: string) => answered(get(service.url + path));

async function expectRefused(response: IncomingMessage) {
  expect([response.statusCode, response.headers['retry-after'], await json(response)]).toEqual([503, '1', overloaded]);
}

/** Requests long responses that it does not read until one is refused. @returns those that were not */
async function fillMemory() {
  const unread: IncomingMessage[] = [];
  for (;;) {
    const response = await open('/texts');
    if (response.statusCode === 200) unread.push(response);
    else {
      await expectRefused(response);
      return unread;
    }
  }
}

/** Sends all of a POST but its last byte. */
function sendUnfinished(url: string, headers: Record<string, string>, body: string) {
  const post = request(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } });
  post.on('error', () => undefined).write(body);
  return post;
}

const small = async () => (await service.request('POST', '/texts', { text: 'a' })).body;
const large = () => service.request('POST', '/texts', { text: 'x'.repeat(MiB - 100) });

test.each([
  ['of a known length', { 'content-length': `${MiB}` }],
  ['chunked', { 'transfer-encoding': 'chunked' }],
])('Slow requests %s hold 32 MiB together: the rest gets 503', async (_, headers) => {
  const posts = Array.from({ length: 40 }, () => sendUnfinished(`${service.url}/texts`, headers, '{'));
  await expectRefused(await Promise.race(posts.map(answered)));

  // Short ones are accepted despite these, and long ones when these have gone.
  expect(await small()).toBe(1);
  expect((await large()).status).toBe(503);
  posts.forEach((post) => post.destroy());
  await served(large);
});

test('Slow readers hold 32 MiB together: the rest gets 503', async () => {
  const unread = await fillMemory();
  expect(unread).toHaveLength(3);
  expect(await small()).toBe(1);
  unread.forEach((response) => response.destroy());
  await served(() => service.request('GET', '/texts'));
});

test('Requests and responses that are over hold nothing', async () => {
  for (let turn = 0; turn < 40; turn += 1) {
    const headers = { 'content-length': `${MiB}` };
    const sent = request(`${service.url}/nowhere`, { method: 'POST', headers });
    const response = await answered(sent.end('x'.repeat(MiB)));
    expect(response.statusCode).toBe(404);
    await once(response.resume(), 'close');
  }
  for (let turn = 0; turn < 6; turn += 1) expect((await service.request('GET', '/texts')).status).toBe(200);
  for (let turn = 0; turn < 2; turn += 1)
    expect((await service.request('GET', '/list')).body).toHaveLength(LIST_CHUNKS);
  expect((await large()).status).toBe(200);
});

describe('Lists', () => {
  test('hold no more than 32 MiB together when they begin in the same moment', async () => {
    const begun = await Promise.all(Array.from({ length: AT_ONCE }, () => open('/at-once')));
    const statuses = begun.map(({ statusCode }) => statusCode!);
    expect(statuses.toSorted((a, b) => a - b)).toEqual(Array.from(begun, (_list, n) => (n < 4 ? 200 : 503)));
    begun.forEach((list) => list.destroy());
    await served(() => service.request('GET', '/list'));
  });

  test('hold little more than 32 MiB together when only their first chunks are small', async () => {
    const begun = await Promise.all(Array.from({ length: 40 }, () => open('/growing')));
    allHaveBegun.resolve(undefined);
    while ((await service.request('GET', '/texts')).status !== 503);
    for (let turn = 0; turn < 5; turn += 1) await small();
    // Five fill the memory, and four are read at once.
    expect(chunksRead).toBeLessThan(10);
    begun.forEach((list) => list.destroy());
  });

  test('that have begun are complete when the service is overloaded for a while', async () => {
    expect(await json(await open('/overloaded'))).toEqual(['first', 'last']);
  });

  test('without memory: new ones get 503, those that have begun wait and go on afterwards', async () => {
    const list = await open('/list');
    const unread = await fillMemory();
    expect((await open('/list')).statusCode).toBe(503);

    const { bodyMemory } = service.app;
    const [held, readBefore] = [bodyMemory.bytes, chunksRead];
    const whole = json(list);
    // Until its first chunk has been read.
    while (bodyMemory.bytes === held) await small();
    for (let turn = 0; turn < 5; turn += 1) await small();
    expect(chunksRead).toBe(readBefore);
    unread.forEach((response) => response.destroy());
    expect(await whole).toHaveLength(LIST_CHUNKS);
  });
});

test('A process stays within 256 MB beside 400 slow writers and 400 slow readers of 1 MiB', async () => {
  // As in the image, in a container of 256 MiB.
  const flags = ['--max-semi-space-size=8', '--max-old-space-size=128', '--heap-growing-percent=30'];
  const environment = { DATABASE_URL: notes.database.url, MALLOC_ARENA_MAX: '2' };
  const { child, listening } = startProcess([...flags, notesMain()], environment);
  const url = `${await listening()}/notes`;
  await sql`insert into note (title) select repeat('x', 1000) from generate_series(1, 1000)`.execute(notes.db);
  const getList = () => get(`${url}?limit=1000`).on('error', () => undefined);
  // Half of the memory: readers and writers share it.
  let unread = 0;
  while (unread < 16) if ((await answered(getList())).statusCode === 200) unread += 1;
  const headers = { 'content-length': `${MiB}` };
  const posts = Array.from({ length: 400 }, () => sendUnfinished(url, headers, 'x'.repeat(MiB - 1)));
  const lists = Array.from({ length: 384 }, getList);
  await Promise.all(lists.map(answered));
  expect(await memoryOf(child)).toBeLessThan(256 * MiB);
  [...posts, ...lists].forEach((each) => each.destroy());
});
