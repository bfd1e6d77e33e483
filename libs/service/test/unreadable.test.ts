import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startService, type LogLine, type TestService } from '@rest-services/testing';
import { exchange, openSocket, scrape, statusesOf } from './http.ts';
import { notesMain } from './notes/bundled.ts';
import type { NotesDatabase } from './notes/database.ts';
import { untilBlocked } from './until-blocked.ts';
import { sql } from 'kysely';

// Data that Node.js cannot parse as a request or as a body. Each response has one line in the log.

let service: TestService<NotesDatabase>;
beforeAll(async () => {
  service = await startService(notesMain());
});
afterAll(() => service.stop());

let marks = 0;

const abortedInMetrics = async () => [...(await scrape(service.url))].filter(([name]) => name.includes('"aborted"'));

/** Returns the statuses that are logged during `act`. The metrics must not count an aborted request. */
async function linesOf(act: () => Promise<unknown>) {
  const before = service.log.length;
  const aborted = await abortedInMetrics();
  await act();
  const mark = `/nowhere/${(marks += 1)}`;
  await (await fetch(service.url + mark)).text();
  await service.logged(({ url }) => url === mark);
  expect(await abortedInMetrics()).toEqual(aborted);
  const lines = service.log.slice(before).filter(({ msg, url }) => msg === 'request' && url !== mark);
  return lines.map(({ status }) => status);
}

const json = 'content-type: application/json\r\n';
const host = `host: notes\r\n${json}`;
const pieces = 'transfer-encoding: chunked\r\n\r\n1\r\n{\r\n';
const noPiece = 'no length\r\n';
const fourLetters = 'content-length: 4\r\n\r\n';

test.each([
  ['of a new note', [`POST /notes HTTP/1.1\r\n${host}${pieces}${noPiece}`], [400]],
  ['of no route', [`POST /nowhere HTTP/1.1\r\n${host}${pieces}`, noPiece], [404]],
  ['of a read', [`GET /notes HTTP/1.1\r\n${host}${pieces}`, noPiece], [200]],
  ['of a preflight', [`OPTIONS /notes HTTP/1.1\r\n${host}origin: a\r\n${pieces}`, noPiece], [204]],
  ['of a request without a host', [`POST /notes HTTP/1.1\r\n${json}${pieces}`, noPiece], [400]],
])('a malformed body %s has one response and one line in the log', async (_, parts, expected) => {
  let answers = '';
  const lines = await linesOf(async () => {
    const socket = openSocket(service.url)
      .setEncoding('utf8')
      .on('data', (data: string) => (answers += data));
    const closed = once(socket, 'close');
    for (const part of parts) {
      socket.write(part);
      await Promise.race([once(socket, 'data'), closed]);
    }
    await closed;
  });
  expect([statusesOf(answers), lines]).toEqual([expected, expected]);
});

test('a malformed request after a late body has its own response and line', async () => {
  let answers = '';
  const lines = await linesOf(async () => {
    const socket = openSocket(service.url).setEncoding('utf8');
    socket.write(`POST /nowhere HTTP/1.1\r\n${host}${fourLetters}`);
    [answers] = (await once(socket, 'data')) as [string];
    socket.write('late');
    socket.write('nonsense\r\n\r\n');
    answers += await text(socket);
  });
  expect([statusesOf(answers), lines]).toEqual([
    [404, 400],
    [404, 400],
  ]);
});

test.each([
  ['a small body', `POST /notes HTTP/1.1\r\n${host}content-length: 100\r\n\r\n{`],
  ['a large body', `POST /notes HTTP/1.1\r\n${host}content-length: 9000\r\n\r\n{`],
  ['a body that no route reads', `GET /notes HTTP/1.1\r\n${host}content-length: 100\r\n\r\n{`],
])('half of a request with %s behind another: one response and one line each', async (_, half) => {
  const { id } = await service.db.insertInto('note').values({ title: 'a' }).returning('id').executeTakeFirstOrThrow();
  let answers = '';
  const lines = await linesOf(() =>
    service.db.transaction().execute(async (locking) => {
      await sql`select from note where id = ${id} for update`.execute(locking);
      const socket = openSocket(service.url);
      socket.end(`PUT /notes/${id} HTTP/1.1\r\n${host}content-length: 13\r\n\r\n{"title":"b"}${half}`);
      answers = await text(socket);
    }),
  );
  // PostgreSQL ends a statement that waits for a row for too long.
  expect([statusesOf(answers), lines]).toEqual([
    [503, 400],
    [503, 400],
  ]);
});

test('a read whose body ends early has its response and its line', async () => {
  let answers = '';
  const lines = await linesOf(() =>
    service.db.transaction().execute(async (locking) => {
      await sql`lock table note`.execute(locking);
      const socket = openSocket(service.url);
      socket.end(`GET /notes HTTP/1.1\r\n${host}${fourLetters}{`);
      answers = await text(socket);
    }),
  );
  expect([statusesOf(answers), lines]).toEqual([[503], [503]]);
});

test.each([
  ['has a response', `GET /notes HTTP/1.1\r\n${host}connection: close\r\n\r\n`, 200],
  [
    'has a response before its body arrives',
    `POST /nowhere HTTP/1.1\r\n${host}connection: close\r\n${fourLetters}four`,
    404,
  ],
])('ignores data after a request with Connection: close that %s', async (_, request, status) => {
  let answers = '';
  const lines = await linesOf(async () => {
    answers = await exchange(service.url, `${request}nonsense\r\n\r\n`);
  });
  expect([statusesOf(answers), lines]).toEqual([[status], [status]]);
});

test.each([
  ['alone', '', []],
  ['after a POST', `POST /notes HTTP/1.1\r\n${host}content-length: 13\r\n\r\n{"title":"a"}`, [201]],
  [
    'after a long list and another request',
    `GET /notes?limit=20000 HTTP/1.1\r\n${host}\r\nGET /nowhere HTTP/1.1\r\n${host}\r\n`,
    [200, 404],
  ],
])('CONNECT %s has its response, its line and its metric, in its turn', async (_, before, expected) => {
  await sql`insert into note (title) select repeat('x', 150) from generate_series(1, 20000)`.execute(service.db);
  const counted = async () =>
    (await scrape(service.url)).get(
      'http_request_duration_seconds_count{method="CONNECT",route="none",status="404"}',
    ) ?? 0;
  const countedBefore = await counted();
  let answers = '';
  // Nothing reads what follows CONNECT.
  const request = `${before}CONNECT notes:443 HTTP/1.1\r\nhost: notes:443\r\n\r\nPOST /notes HTTP/1.1\r\n`;
  const lines = await linesOf(async () => {
    answers = await exchange(service.url, request);
  });
  expect([statusesOf(answers), lines]).toEqual([
    [...expected, 404],
    [...expected, 404],
  ]);
  expect(answers).toMatch(/connection: close\r\n\r\n\{"message":"Not found"\}$/i);
  expect(await counted()).toBe(countedBefore + 1);
});

test('of a connection that closes, each request that waits has a line in the log', async () => {
  const { id } = await service.db.insertInto('note').values({ title: 'a' }).returning('id').executeTakeFirstOrThrow();
  const isAborted = ({ msg, aborted, method }: LogLine) => msg === 'request' && aborted === true && method === 'DELETE';
  await service.db.transaction().execute(async (locking) => {
    await sql`select from note where id = ${id} for update`.execute(locking);
    const socket = openSocket(service.url);
    socket.write(`PUT /notes/${id} HTTP/1.1\r\n${host}content-length: 13\r\n\r\n{"title":"b"}`);
    await untilBlocked(service.db);
    socket.write(`DELETE /notes/${id} HTTP/1.1\r\n${host}\r\n`.repeat(3));
    // Another connection's response says that the service has read these.
    await (await fetch(`${service.url}/livez`)).text();
    socket.resetAndDestroy();
    await service.logged(isAborted);
  });
  const mark = await (await fetch(`${service.url}/notes/${id}`)).json();
  expect(mark).toMatchObject({ id });
  expect(service.log.filter(isAborted)).toHaveLength(3);
});
