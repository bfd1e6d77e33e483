import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';

import { exchange, openSocket, statusesOf } from './http.ts';
import { buildApp } from './notes/app.ts';
import { migrations } from './notes/database.ts';
import { serve } from './serve.ts';
import { untilBlocked } from './until-blocked.ts';

// Requests that are sent on one connection without waiting for the answers.

const start = () => serve({ migrations, buildApp });
let service: Awaited<ReturnType<typeof start>>;

beforeAll(async () => {
  service = await start();
});
afterAll(() => service.stop());
beforeEach(() => service.db.kysely.deleteFrom('note').execute());

const head = (method: string, path: string) => `${method} ${path} HTTP/1.1\r\nHost: notes\r\n`;
const get = (path: string, headers = '') => `${head('GET', path)}${headers}\r\n`;
const write = (method: string, path: string, body: string) =>
  `${head(method, path)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const closing = 'Connection: close\r\n';

const sendAll = (...requests: string[]) => exchange(service.url, requests.join(''));
const titles = async () =>
  (await service.db.kysely.selectFrom('note').select('title').execute()).map(({ title }) => title);

async function create() {
  const { body } = await service.request('POST', '/notes', { title: 'a' });
  return `/notes/${(body as { id: number }).id}`;
}

test('Requests are carried out and answered in their order: a read sees the writes before it', async () => {
  const path = await create();
  const changes = Array.from({ length: 20 }, (_, turn) => [write('PUT', path, `{"title":"${turn}"}`), get(path)]);
  const others = [get('/notes/summary'), get('/nowhere'), get('/notes'), `${head('DELETE', path)}\r\n`, get(path)];
  const answers = await sendAll(...changes.flat(), ...others, get('/livez', closing));
  expect(statusesOf(answers)).toEqual([...Array<number>(40).fill(200), 200, 404, 200, 200, 404, 200]);
  expect([...answers.matchAll(/\{"id":\d+,"title":"(\d+)"/g)].map(([, title]) => Number(title))).toEqual([
    ...changes.keys(),
    19,
  ]);
});

test('Of many connections whose requests wait, some are cut, and others are served', async () => {
  const path = await create();
  const { server } = service.app;
  const { maxConnections } = server;
  server.maxConnections = 200;
  const sockets = Array.from({ length: 30 }, () => openSocket(service.url));
  const cut = Promise.race(sockets.map((socket) => once(socket, 'close')));
  await service.db.kysely.transaction().execute(async (locking) => {
    await locking.selectFrom('note').select('id').forUpdate().execute();
    const few = Array.from({ length: 20 }, () => get('/notes/1'));
    for (const socket of sockets) {
      socket.on('error', () => undefined);
      socket.write([write('PUT', path, '{"title":"b"}'), ...few].join(''));
    }
    await cut;
    expect((await service.request('GET', path)).status).toBe(200);
  });
  sockets.forEach((socket) => socket.destroy());
  server.maxConnections = maxConnections;
  // None of them counts any more.
  expect(statusesOf(await sendAll(...Array.from({ length: 49 }, () => get(path)), get(path, closing)))).toEqual(
    Array(50).fill(200),
  );
});

test('responds 503 to more than 50 pipelined requests, and serves other connections', async () => {
  const pipelined = sendAll(...Array.from({ length: 200 }, () => get('/notes/summary')), get('/livez', closing));
  const other = sendAll(get('/notes/summary', closing));
  const received = statusesOf(await pipelined);
  expect(received.slice(0, 50)).toEqual(Array(50).fill(200));
  expect(received.slice(50, 200)).toContain(503);
  expect(received[200]).toBe(200);
  expect(statusesOf(await other)).toEqual([200]);
});

test('responds to all pipelined requests in flight when it closes', async () => {
  const closed = await start();
  const { db, app, url } = closed;
  const { body } = await closed.request('POST', '/notes', { title: 'a' });
  const { id } = body as { id: number };
  const received: Promise<string>[] = [];
  await db.kysely.transaction().execute(async (locking) => {
    await sql`select from note where id = ${id} for update`.execute(locking);
    const socket = openSocket(url);
    socket.write(['b', 'c'].map((title) => write('PUT', `/notes/${id}`, JSON.stringify({ title }))).join(''));
    received.push(text(socket));
    await untilBlocked(db);
    void app.close();
  });
  const answers = (await Promise.all(received)).join('');
  expect(statusesOf(answers)).toHaveLength(2);
  expect(answers.match(/^connection: close$/gim)).toHaveLength(1);
});

test('After an answer that closes the connection nothing is carried out', async () => {
  const create = write('POST', '/notes', '{"title":"b"}');
  expect(statusesOf(await sendAll(create.replace('Content-Type', `${closing}Content-Type`), create))).toEqual([201]);
  expect(await titles()).toEqual(['b']);
});

test.each([
  ['no HTTP', 'nonsense\r\n\r\n'],
  ['a body with a wrong length of its piece', `${head('POST', '/notes')}Transfer-Encoding: chunked\r\n\r\nx\r\n`],
])('%s after a request is answered 400 after the answer to that', async (_, unreadable) => {
  const answers = await sendAll(write('POST', '/notes', '{"title":"a"}'), unreadable);
  expect(statusesOf(answers)).toEqual([201, 400]);
  const [head, body] = answers.slice(answers.lastIndexOf('HTTP/1.1')).split('\r\n\r\n');
  expect(head).toMatch(/^content-security-policy: default-src 'none'/im);
  expect(head).toMatch(/^connection: close$/im);
  expect(body).toBe('{"message":"The request is not valid HTTP"}');
  expect(await titles()).toEqual(['a']);
});

test('A body whose pieces have more said about them than in them is answered 413', async () => {
  const piece = `1;${'a'.repeat(20_000)}\r\n{\r\n`;
  const answers = await sendAll(`${head('POST', '/notes')}Transfer-Encoding: chunked\r\n\r\n${piece}`);
  expect(answers).toMatch(/^HTTP\/1\.1 413 .*{"message":"The body is too large"}$/s);
});

test('What cannot be read does not get into the middle of a long list', async () => {
  await service.db.kysely
    .insertInto('note')
    .values(Array.from({ length: 1_000 }, (_, turn) => ({ title: `${turn}` })))
    .execute();
  const answers = await sendAll(get('/notes?limit=1000'), 'nonsense\r\n\r\n');
  expect(statusesOf(answers)).toEqual([200, 400]);
  expect(answers.match(/"title"/g)).toHaveLength(1_000);
  expect(answers.indexOf('HTTP/1.1 400')).toBeGreaterThan(answers.lastIndexOf('0\r\n\r\n'));
});
