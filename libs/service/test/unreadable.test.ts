import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { openTestConnection, startProcess, type LogLine } from '@rest-services/testing';
import { notesMain } from './notes/bundled.ts';
import { sql, type Kysely } from 'kysely';
import type { NotesDatabase } from './notes/database.ts';

// Data that Node.js cannot parse as a request or as a body. Each response has one line in the log.

let database: TestDatabase;
let db: Kysely<NotesDatabase>;
let service: ReturnType<typeof startProcess>;
let url: string;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openTestConnection(database.url);
  service = startProcess(notesMain(), { DATABASE_URL: database.url });
  url = await service.listening();
});
afterAll(async () => {
  service.child.kill('SIGKILL');
  await service.ended;
  await db.destroy();
  await database.drop();
});

const open = async () => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
};
const statuses = (answers: string) => [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

let marks = 0;

const abortedInMetrics = async () => (await (await fetch(`${url}/metrics`)).text()).match(/^.*"aborted".*$/gm);

/** Returns the statuses that are logged during `act`. The metrics must not count an aborted request. */
async function linesOf(act: () => Promise<unknown>) {
  const before = service.log.length;
  const aborted = await abortedInMetrics();
  await act();
  const mark = `/nowhere/${(marks += 1)}`;
  await (await fetch(url + mark)).text();
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
    const socket = (await open()).setEncoding('utf8').on('data', (data: string) => (answers += data));
    const closed = once(socket, 'close');
    for (const part of parts) {
      socket.write(part);
      await Promise.race([once(socket, 'data'), closed]);
    }
    await closed;
  });
  expect([statuses(answers), lines]).toEqual([expected, expected]);
});

test('a malformed request after a late body has its own response and line', async () => {
  let answers = '';
  const lines = await linesOf(async () => {
    const socket = (await open()).setEncoding('utf8');
    socket.write(`POST /nowhere HTTP/1.1\r\n${host}${fourLetters}`);
    [answers] = (await once(socket, 'data')) as [string];
    socket.write('late');
    socket.write('nonsense\r\n\r\n');
    answers += await text(socket);
  });
  expect([statuses(answers), lines]).toEqual([
    [404, 400],
    [404, 400],
  ]);
});

test.each([
  ['a small body', `POST /notes HTTP/1.1\r\n${host}content-length: 100\r\n\r\n{`],
  ['a large body', `POST /notes HTTP/1.1\r\n${host}content-length: 9000\r\n\r\n{`],
  ['a body that no route reads', `GET /notes HTTP/1.1\r\n${host}content-length: 100\r\n\r\n{`],
])('half of a request with %s behind another: one response and one line each', async (_, half) => {
  const { id } = await db.insertInto('note').values({ title: 'a' }).returning('id').executeTakeFirstOrThrow();
  let answers = '';
  const lines = await linesOf(() =>
    db.transaction().execute(async (locking) => {
      await sql`select from note where id = ${id} for update`.execute(locking);
      const socket = await open();
      socket.end(`PUT /notes/${id} HTTP/1.1\r\n${host}content-length: 13\r\n\r\n{"title":"b"}${half}`);
      answers = await text(socket);
    }),
  );
  // PostgreSQL ends a statement that waits for a row for too long.
  expect([statuses(answers), lines]).toEqual([
    [503, 400],
    [503, 400],
  ]);
});

test('a read whose body ends early has its response and its line', async () => {
  let answers = '';
  const lines = await linesOf(() =>
    db.transaction().execute(async (locking) => {
      await sql`lock table note`.execute(locking);
      const socket = await open();
      socket.end(`GET /notes HTTP/1.1\r\n${host}${fourLetters}{`);
      answers = await text(socket);
    }),
  );
  expect([statuses(answers), lines]).toEqual([[503], [503]]);
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
    const socket = await open();
    socket.write(`${request}nonsense\r\n\r\n`);
    answers = await text(socket);
  });
  expect([statuses(answers), lines]).toEqual([[status], [status]]);
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
  await sql`insert into note (title) select repeat('x', 150) from generate_series(1, 20000)`.execute(db);
  const counted = async () => {
    const count = /^http_request_duration_seconds_count\{method="CONNECT",route="none",status="404"\} (.*)$/m;
    return Number(count.exec(await (await fetch(`${url}/metrics`)).text())?.[1] ?? 0);
  };
  const countedBefore = await counted();
  let answers = '';
  const lines = await linesOf(async () => {
    const socket = await open();
    // What comes after CONNECT is for nobody.
    socket.write(`${before}CONNECT notes:443 HTTP/1.1\r\nhost: notes:443\r\n\r\nPOST /notes HTTP/1.1\r\n`);
    answers = await text(socket);
  });
  expect([statuses(answers), lines]).toEqual([
    [...expected, 404],
    [...expected, 404],
  ]);
  expect(answers).toMatch(/connection: close\r\n\r\n\{"message":"Not found"\}$/i);
  expect(await counted()).toBe(countedBefore + 1);
});

test('of a connection that closes, each request that waits has a line in the log', async () => {
  const { id } = await db.insertInto('note').values({ title: 'a' }).returning('id').executeTakeFirstOrThrow();
  const isAborted = ({ msg, aborted, method }: LogLine) => msg === 'request' && aborted === true && method === 'DELETE';
  await db.transaction().execute(async (locking) => {
    await sql`select from note where id = ${id} for update`.execute(locking);
    const socket = await open();
    socket.write(`PUT /notes/${id} HTTP/1.1\r\n${host}content-length: 13\r\n\r\n{"title":"b"}`);
    const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    while ((await waiting.execute(db)).rows.length === 0);
    socket.write(`DELETE /notes/${id} HTTP/1.1\r\n${host}\r\n`.repeat(3));
    // Another connection's response says that the service has read these.
    await (await fetch(`${url}/livez`)).text();
    socket.resetAndDestroy();
    await service.logged(isAborted);
  });
  const mark = await (await fetch(`${url}/notes/${id}`)).json();
  expect(mark).toMatchObject({ id });
  expect(service.log.filter(isAborted)).toHaveLength(3);
});
