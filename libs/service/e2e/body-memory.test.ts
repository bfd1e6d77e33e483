import { once } from 'node:events';
import { get, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { List } from '@rest-services/database';
import { HttpError } from '@rest-services/errors';
import { Type } from 'typebox';
import { createService, sendList, type Settings } from '../src/index.ts';
import { serve } from '../test/serve.ts';

const MiB = 1_024 ** 2;
const overloaded = { message: 'The service is overloaded, try again in a moment' };

/** Chunks of 8 MiB, together more than the memory for all of them. */
const LIST_CHUNKS = 6;

let service: Awaited<ReturnType<typeof start>>;
const start = () => serve({ migrations: {}, buildApp });
let chunksRead = 0;
let lateAnswers: number;
beforeEach(async () => {
  service = await start();
  chunksRead = 0;
  lateAnswers = 0;
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
  // More than the system takes from a service whose reader does not read.
  const texts = ['x'.repeat(11 * MiB)];
  app.get('/texts', { schema: { response: { 200: Type.Array(Type.String()) } } }, () => texts);
  app.get('/late', { schema: { hide: true } }, async (_request, reply) => {
    await once(reply.raw, 'close');
    lateAnswers += 1;
    return texts[0];
  });
  const list = Type.Array(Type.Array(Type.String()));
  app.get('/list', { schema: { response: { 200: list } } }, async (_request, reply) =>
    sendList(reply, chunks(LIST_CHUNKS)),
  );
  app.get('/failing', { schema: { response: { 200: list } } }, async (_request, reply) =>
    sendList(reply, { ...chunks(1), next: () => Promise.reject(new Error('The database fails')) }),
  );
  app.get('/growing', { schema: { response: { 200: list } } }, async (_request, reply) =>
    sendList(reply, { rows: [['small']], next: () => allHaveBegun.promise.then(() => chunks(2)) }),
  );
  app.get<{ Params: { last: string } }>(
    '/begun/:last',
    { schema: { response: { 200: list } } },
    async (request, reply) =>
      sendList(reply, { rows: begun, next: () => Promise.resolve({ rows: [[request.params.last]], next: undefined }) }),
  );
  app.get('/overloaded', { schema: { response: { 200: list } } }, async (_request, reply) => {
    let isFirstTime = true;
    const next = () => {
      if (!isFirstTime) return Promise.resolve({ rows: [['last']], next: undefined });
      isFirstTime = false;
      return Promise.reject(new HttpError(503, 'No connection'));
    };
    return sendList(reply, { rows: [['first']], next });
  });
  app.get('/slow', { schema: { response: { 200: list } } }, async (_request, reply) =>
    sendList(reply, { rows: [['first']], next: readSlowly }),
  );
  const atOnce: (() => void)[] = [];
  app.get('/at-once', { schema: { response: { 200: list } } }, async (_request, reply) => {
    await new Promise<void>((resolve) => {
      atOnce.push(resolve);
      if (atOnce.length === AT_ONCE) atOnce.splice(0).forEach((begin) => begin());
    });
    return sendList(reply, chunks(2));
  });
  return app;
}

/** Number of requests that get their rows in the same moment. */
const AT_ONCE = 10;

const chunks = (count: number): List<string[]> => {
  chunksRead += 1;
  return { rows: [['x'.repeat(8 * MiB)]], next: count === 1 ? undefined : () => Promise.resolve(chunks(count - 1)) };
};

const begun = [['first']];

const allHaveBegun = Promise.withResolvers();

/** Chunks that are being read, until `goOn` is called. */
const reading = { now: 0, most: 0, goOn: () => {} };
const held = new Promise<void>((resolve) => (reading.goOn = resolve));

async function readSlowly() {
  reading.now += 1;
  reading.most = Math.max(reading.most, reading.now);
  await held;
  reading.now -= 1;
  return { rows: [['last']], next: undefined };
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
  ])(
    '%s hold no more than 32 MiB together: the rest gets 503 with Retry-After',
    async (_, headers: Record<string, string>, piece, pieces, count) => {
      const posts = Array.from({ length: count }, () => sendUnfinished(headers, piece, pieces));
      expect(await firstRefused(posts)).toEqual([503, '1', overloaded]);

      // Small bodies are accepted despite these, and large ones when the slow requests have gone.
      expect((await service.request('POST', '/texts', { text: 'a' })).body).toBe(1);
      posts.forEach((post) => post.destroy());
      const large = { text: 'x'.repeat(MiB - 100) };
      let answer = await service.request('POST', '/texts', large);
      while (answer.status === 503) answer = await service.request('POST', '/texts', large);
      expect(answer.body).toBe(MiB - 100);
    },
  );
});

test('Bodies in pieces of a byte each hold no more than their bytes: they refuse nobody', async () => {
  const posts = Array.from({ length: 20 }, () => sendUnfinished({}, 'x', 20_000));
  posts.forEach((post) => post.on('error', () => undefined));
  await Promise.all(posts.map((post) => new Promise((resolve) => post.write('x', resolve))));
  for (let turn = 0; turn < 20; turn += 1) {
    expect((await service.request('POST', '/texts', { text: 'x'.repeat(MiB - 100) })).status).toBe(200);
  }
  posts.forEach((post) => post.destroy());
});

test('Bodies of requests that wait for the answer to another one are counted as well', async () => {
  const text = JSON.stringify({ text: 'x'.repeat(MiB - 100) });
  const post = `POST /texts HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n`;
  const sockets = Array.from({ length: 40 }, () => connect(Number(new URL(service.url).port), '127.0.0.1'));
  for (const socket of sockets) {
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.write(`GET /late HTTP/1.1\r\nhost: a\r\n\r\n${post}${text}`, resolve));
  }
  const large = { text: 'x'.repeat(MiB - 100) };
  while ((await service.request('POST', '/texts', large)).status === 200);
  sockets.forEach((socket) => socket.resetAndDestroy());
  while ((await service.request('POST', '/texts', large)).status === 503);
});

describe('Bodies that are answered before they have been read', () => {
  const body = `10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(16);
  const get = {
    start: 'GET /openapi.json',
    type: 'application/json',
    length: 'transfer-encoding: chunked',
    body,
  };
  const unsupported = { ...get, start: 'POST /texts', type: '/' };
  const tooLarge = { ...unsupported, type: 'application/json', length: `content-length: ${2 * MiB}` };
  const tooLong = { ...tooLarge, length: get.length, body: `200000\r\n${'x'.repeat(2 * MiB)}` };

  /** @returns a connection over which such a request has got its response, and the data received so far */
  async function answeredSooner({ start, type, length, body }: typeof get) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1').setEncoding('utf8');
    socket.on('error', () => undefined);
    socket.write(`${start} HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\n${length}\r\n\r\n${body}`);
    const [said] = (await once(socket, 'data')) as [string];
    return { socket, said };
  }

  test.each([
    ['GET', get, 200],
    ['unsupported', unsupported, 415],
    ['announced as too large', tooLarge, 413],
    ['too large', tooLong, 413],
  ])('hold nothing afterwards: %s', async (_, request, status) => {
    for (let turn = 0; turn < 40; turn += 1) {
      const { socket, said } = await answeredSooner(request);
      expect(said).toMatch(`HTTP/1.1 ${status} `);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write(body, () => socket.destroy());
      await closed;
    }
    expect((await service.request('POST', '/texts', { text: 'x'.repeat(MiB - 100) })).status).toBe(200);
  });

  test.each([
    ['GET', get],
    ['unsupported', unsupported],
  ])('do not hold up the next request on their connection: %s', async (_, request) => {
    const { socket } = await answeredSooner(request);
    socket.write(`${body.repeat(3)}0\r\n\r\nGET /next HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
    let said = '';
    for await (const data of socket) said += data as string;
    expect(said).toMatch(/HTTP\/1\.1 404 .*\r\n\r\n\{"message":"Not found"\}$/s);
  });

  test.each([
    ['unsupported', unsupported],
    ['announced as too large', tooLarge],
    ['too large', tooLong],
  ])('do not end the service when there is no memory for more of them: %s', async (_, request) => {
    const slow = await fillMemory();
    (await answeredSooner(request)).socket.destroy();
    expect((await service.request('POST', '/texts', { text: 'a' })).body).toBe(1);
    slow.forEach((response) => response.destroy());
  });
});

describe('Answers that are slow to be read', () => {
  test('hold no more than 32 MiB together: the rest gets 503 with Retry-After', async () => {
    const slow = await fillMemory();
    expect(slow).toHaveLength(3);
    expect((await service.request('POST', '/texts', { text: 'a' })).body).toBe(1);
    slow.forEach((response) => response.destroy());
    let answer = await service.request('GET', '/texts');
    while (answer.status === 503) answer = await service.request('GET', '/texts');
    expect(answer.body).toEqual(['x'.repeat(11 * MiB)]);
  });

  test('are not counted when their readers have left already', async () => {
    for (let turn = 1; turn <= 4; turn += 1) {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      socket.write('GET /late HTTP/1.1\r\nhost: a\r\n\r\n', () => socket.resetAndDestroy());
      while (lateAnswers < turn) await service.request('POST', '/texts', { text: 'a' });
    }
    expect((await service.request('GET', '/texts')).status).toBe(200);
  });

  test('are counted no longer when they have been read', async () => {
    for (let turn = 0; turn < 6; turn += 1) expect((await service.request('GET', '/texts')).status).toBe(200);
    for (let turn = 0; turn < 2; turn += 1)
      expect((await service.request('GET', '/list')).body).toHaveLength(LIST_CHUNKS);
  });

  test('hold no more than 32 MiB together when they begin in the same moment', async () => {
    const lists = await Promise.all(Array.from({ length: AT_ONCE }, () => open('/at-once')));
    const statuses = lists.map(({ statusCode }) => statusCode!);
    expect(statuses.toSorted((a, b) => a - b)).toEqual(Array.from(lists, (_list, n) => (n < 4 ? 200 : 503)));
    lists.forEach((list) => list.destroy());
    while ((await service.request('GET', '/list')).status === 503);
  });

  test('hold little more than 32 MiB together when only their first chunks are small', async () => {
    const lists = await Promise.all(Array.from({ length: 40 }, () => open('/growing')));
    allHaveBegun.resolve(undefined);
    while ((await service.request('GET', '/texts')).status !== 503);
    for (let turn = 0; turn < 5; turn += 1) await service.request('POST', '/texts', { text: 'a' });
    // Five fill the memory, and four may be read at once.
    expect(chunksRead).toBeLessThan(20);
    lists.forEach((list) => list.destroy());
  });

  test('that share their first rows go on each with its own', async () => {
    for (const last of ['a', 'b']) expect(await json(await open(`/begun/${last}`))).toEqual([['first'], [last]]);
  });

  test('ask for the chunks of no more than four lists at once: the others wait, and all are complete', async () => {
    const lists = await Promise.all(Array.from({ length: 20 }, () => open('/slow')));
    await service.request('POST', '/texts', { text: 'a' });
    expect(reading).toMatchObject({ now: 4, most: 4 });
    reading.goOn();
    for (const list of lists) expect(await json(list)).toEqual([['first'], ['last']]);
    expect(reading).toMatchObject({ now: 0, most: 4 });
  });

  test('are complete when the service is overloaded after they have begun: the next chunk is asked for again', async () => {
    expect(await json(await open('/overloaded'))).toEqual([['first'], ['last']]);
  });

  test('leave no memory for lists: new ones get 503, those that have begun wait and go on afterwards', async () => {
    const list = await open('/list');
    const slow = await fillMemory();
    expect((await open('/list')).statusCode).toBe(503);

    const readBefore = chunksRead;
    const read = readToEnd(list);
    await read.firstChunk;
    for (let turn = 0; turn < 5; turn += 1) await service.request('POST', '/texts', { text: 'a' });
    expect(chunksRead).toBe(readBefore);
    slow.forEach((response) => response.destroy());
    expect(await read.whole).toHaveLength(LIST_CHUNKS);
  });

  test('let the next list go on when one that has waited fails', async () => {
    const [failing, list] = [await open('/failing'), await open('/list')];
    const slow = await fillMemory();
    const broken = readToEnd(failing);
    await broken.firstChunk;
    const read = readToEnd(list);
    await read.firstChunk;

    slow[0]!.destroy();
    await expect(broken.whole).rejects.toThrow('aborted');
    expect(await read.whole).toHaveLength(LIST_CHUNKS);
    slow.forEach((response) => response.destroy());
  });
});

/** Reads a list to its end. */
function readToEnd(list: IncomingMessage) {
  const pieces: Buffer[] = [];
  const whole = once(list, 'end').then(() => JSON.parse(Buffer.concat(pieces).toString()) as unknown);
  whole.catch(() => undefined);
  const firstChunk = new Promise<void>((resolve) => {
    list.on('data', (piece: Buffer) => {
      pieces.push(piece);
      if (pieces.reduce((sum, { length }) => sum + length, 0) > 8 * MiB) resolve();
    });
  });
  return { firstChunk, whole };
}

async function open(path: string) {
  const [response] = (await once(get(service.url + path), 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  return response;
}

/** @returns as many unread responses as there is memory for */
async function fillMemory() {
  const slow: IncomingMessage[] = [];
  for (;;) {
    const response = await open('/texts');
    if (response.statusCode === 200) slow.push(response);
    else {
      expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '1']);
      expect(await json(response)).toEqual(overloaded);
      return slow;
    }
  }
}
