import { once } from 'node:events';
import { get, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { List } from '@rest-services/database';
import { HttpError } from '@rest-services/errors';
import { openTestConnection, processesOf } from '@rest-services/testing';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { sendList, type Settings } from '../src/index.ts';
import { createTestApp } from '../test/http.ts';
import { notesMain } from '../test/notes/bundled.ts';
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

const shared = ['first'];
const allHaveBegun = Promise.withResolvers();

/** Chunks that are being read, until `goOn` is called. */
const reading = { now: 0, most: 0, goOn: () => {} };
const held = new Promise<void>((resolve) => (reading.goOn = resolve));

async function readSlowly() {
  reading.now += 1;
  reading.most = Math.max(reading.most, reading.now);
  await held;
  reading.now -= 1;
  return { rows: ['last'], next: undefined };
}

/** Lists by path. */
function lists() {
  let isFirstTime = true;
  const atOnce: (() => void)[] = [];
  return {
    '/list': () => chunks(LIST_CHUNKS),
    '/growing': () => ({ rows: ['small'], next: () => allHaveBegun.promise.then(() => chunks(2)) }),
    '/slow': () => ({ rows: ['first'], next: readSlowly }),
    '/shared/a': () => ({ rows: shared, next: () => Promise.resolve({ rows: ['a'], next: undefined }) }),
    '/shared/b': () => ({ rows: shared, next: () => Promise.resolve({ rows: ['b'], next: undefined }) }),
    '/overloaded': () => {
      const next = () => {
        if (!isFirstTime) return Promise.resolve({ rows: ['last'], next: undefined });
        isFirstTime = false;
        return Promise.reject(new HttpError(503, 'No connection'));
      };
      return { rows: ['first'], next };
    },
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

async function open(path: string) {
  const sent = get(service.url + path).on('error', () => undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  return response;
}

/** Requests long responses that it does not read until one is refused. @returns those that were not */
async function fillMemory() {
  const unread: IncomingMessage[] = [];
  for (;;) {
    const response = await open('/texts');
    if (response.statusCode === 200) unread.push(response);
    else {
      expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '1']);
      expect(await json(response)).toEqual(overloaded);
      return unread;
    }
  }
}

/** Sends all of a POST but its last byte. */
function sendUnfinished(url: string, path: string, headers: Record<string, string>, body: string) {
  const post = request(url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } });
  post.on('error', () => undefined).write(body);
  return post;
}

const answered = async (post: ClientRequest) => ((await once(post, 'response')) as [IncomingMessage])[0];

const large = { text: 'x'.repeat(MiB - 100) };

/** Sends it until there is memory for it. */
async function untilServed(...sent: Parameters<typeof service.request>) {
  for (;;) {
    const response = await service.request(...sent);
    if (response.status !== 503) return response;
  }
}

test.each([
  ['of a known length', { 'content-length': `${MiB}` }],
  ['chunked', { 'transfer-encoding': 'chunked' }],
])('slow requests %s hold 32 MiB together: the rest gets 503 with Retry-After', async (_, headers) => {
  const posts = Array.from({ length: 40 }, () => sendUnfinished(service.url, '/texts', headers, '{'));
  const refused = await Promise.race(posts.map(answered));
  expect([refused.statusCode, refused.headers['retry-after'], await json(refused)]).toEqual([503, '1', overloaded]);

  // Short ones are accepted despite these, and long ones when these have gone.
  expect((await service.request('POST', '/texts', { text: 'a' })).body).toBe(1);
  expect((await service.request('POST', '/texts', large)).status).toBe(503);
  posts.forEach((post) => post.destroy());
  expect((await untilServed('POST', '/texts', large)).body).toBe(MiB - 100);
});

test.each([
  ['GET', '/openapi.json', 'application/json', 200],
  ['POST', '/texts', '/', 415],
  ['POST', '/texts', 'application/json', 400],
  ['POST', '/nowhere', 'application/json', 404],
])('%s %s of %s holds nothing after its response', async (method, path, type, status) => {
  for (let turn = 0; turn < 40; turn += 1) {
    const headers = { 'content-type': type, 'content-length': `${MiB}` };
    const sent = request(service.url + path, { method, headers }).end('x'.repeat(MiB));
    const response = await answered(sent);
    expect(response.statusCode).toBe(status);
    response.resume();
    await once(response, 'close');
  }
  expect((await service.request('POST', '/texts', large)).status).toBe(200);
});

test('slow readers hold 32 MiB together: the rest gets 503 with Retry-After', async () => {
  const unread = await fillMemory();
  expect(unread).toHaveLength(3);
  expect((await service.request('POST', '/texts', { text: 'a' })).body).toBe(1);
  unread.forEach((response) => response.destroy());
  expect((await untilServed('GET', '/texts')).status).toBe(200);
});

test('responses that have been read hold nothing', async () => {
  for (let turn = 0; turn < 6; turn += 1) expect((await service.request('GET', '/texts')).status).toBe(200);
  for (let turn = 0; turn < 2; turn += 1)
    expect((await service.request('GET', '/list')).body).toHaveLength(LIST_CHUNKS);
});

describe('Lists', () => {
  test('hold no more than 32 MiB together when they begin in the same moment', async () => {
    const begun = await Promise.all(Array.from({ length: AT_ONCE }, () => open('/at-once')));
    const statuses = begun.map(({ statusCode }) => statusCode!);
    expect(statuses.toSorted((a, b) => a - b)).toEqual(Array.from(begun, (_list, n) => (n < 4 ? 200 : 503)));
    begun.forEach((list) => list.destroy());
    expect((await untilServed('GET', '/list')).status).toBe(200);
  });

  test('hold little more than 32 MiB together when only their first chunks are small', async () => {
    const begun = await Promise.all(Array.from({ length: 40 }, () => open('/growing')));
    allHaveBegun.resolve(undefined);
    while ((await service.request('GET', '/texts')).status !== 503);
    for (let turn = 0; turn < 5; turn += 1) await service.request('POST', '/texts', { text: 'a' });
    // Five fill the memory, and four may be read at once.
    expect(chunksRead).toBeLessThan(20);
    begun.forEach((list) => list.destroy());
  });

  test('that share their first rows go on each with its own', async () => {
    for (const last of ['a', 'b']) expect(await json(await open(`/shared/${last}`))).toEqual(['first', last]);
  });

  test('read the chunks of four at once: the others wait, and all are complete', async () => {
    const begun = await Promise.all(Array.from({ length: 20 }, () => open('/slow')));
    await service.request('POST', '/texts', { text: 'a' });
    expect(reading).toMatchObject({ now: 4, most: 4 });
    reading.goOn();
    for (const list of begun) expect(await json(list)).toEqual(['first', 'last']);
    expect(reading).toMatchObject({ now: 0, most: 4 });
  });

  test('that have begun are complete when the service is overloaded for a while', async () => {
    expect(await json(await open('/overloaded'))).toEqual(['first', 'last']);
  });

  test('without memory: new ones get 503, those that have begun wait and go on afterwards', async () => {
    const list = await open('/list');
    const unread = await fillMemory();
    expect((await open('/list')).statusCode).toBe(503);

    const readBefore = chunksRead;
    const { firstChunk, end } = readToEnd(list);
    await firstChunk;
    for (let turn = 0; turn < 5; turn += 1) await service.request('POST', '/texts', { text: 'a' });
    expect(chunksRead).toBe(readBefore);
    unread.forEach((response) => response.destroy());
    expect(await end).toHaveLength(LIST_CHUNKS);
  });
});

/** Reads a list to its end. */
function readToEnd(list: IncomingMessage) {
  const parts: Buffer[] = [];
  const end = once(list, 'end').then(() => JSON.parse(Buffer.concat(parts).toString()) as unknown);
  const firstChunk = new Promise<void>((resolve) => {
    list.on('data', (part: Buffer) => {
      parts.push(part);
      if (parts.reduce((sum, { length }) => sum + length, 0) > 8 * MiB) resolve();
    });
  });
  return { firstChunk, end };
}

describe('A process', () => {
  const notes = processesOf(notesMain());

  test('stays within 256 MB beside 400 slow writers and 400 slow readers of 1 MiB', async () => {
    // As in the image.
    const node = { NODE_OPTIONS: '--max-semi-space-size=8', MALLOC_ARENA_MAX: '2' };
    const url = await notes.start(node).listening();
    const db = openTestConnection(notes.database.url);
    await sql`insert into note (title) select repeat('x', 1000) from generate_series(1, 1000)`.execute(db);
    await db.destroy();
    const headers = { 'content-length': `${MiB}` };
    const body = 'x'.repeat(MiB - 1);
    const getList = () => get(`${url}/notes?limit=1000`).on('error', () => undefined);
    // Half of the memory: readers and writers share it, whoever comes first.
    let unread = 0;
    while (unread < 16) if ((await answered(getList())).statusCode === 200) unread += 1;
    const posts = Array.from({ length: 400 }, () => sendUnfinished(url, '/notes', headers, body));
    const lists = Array.from({ length: 384 }, getList);
    await Promise.all(lists.map(answered));
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(Number(/^process_resident_memory_bytes (\S+)$/m.exec(metrics)![1])).toBeLessThan(256e6);
    [...posts, ...lists].forEach((each) => each.destroy());
  });
});
