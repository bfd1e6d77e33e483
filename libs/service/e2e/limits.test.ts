import { once } from 'node:events';
import { connect } from 'node:net';
import { finished } from 'node:stream/promises';
import { afterAll, expect, test } from '@jest/globals';
import { createTestDatabase, freePort, type TestDatabase } from '@rest-services/local-postgres';
import { load, openTestConnection, send, startProcess, withMargin } from '@rest-services/testing';
import { notesMain } from '../test/notes/bundled.ts';
import { openList, openOverHttp10 } from '../test/open-list.ts';
import { sql } from 'kysely';

// Timeouts of several seconds. The tests run concurrently, because they wait most of the time.

const main = notesMain();
const processes: ReturnType<typeof startProcess>[] = [];
const databases: TestDatabase[] = [];

async function createDatabase() {
  const database = await createTestDatabase();
  databases.push(database);
  return database;
}

function startNotes(environment: NodeJS.ProcessEnv, ...args: string[]) {
  const service = startProcess(main, environment, ...args);
  processes.push(service);
  return service;
}

afterAll(async () => {
  processes.forEach(({ child }) => child.kill('SIGKILL'));
  await Promise.all(processes.map(({ ended }) => ended));
  await Promise.all(databases.map((database) => database.drop()));
});

test.concurrent(
  'a database that does not come up: retries, then exit code 1 and a log line',
  async () => {
    const DATABASE_URL = `postgres://notes:pa55word@127.0.0.1:${await freePort()}/notes`;
    const service = startNotes({ DATABASE_URL });
    const job = startNotes({ DATABASE_URL }, 'migrate');
    for (const { ended, log } of [service, job]) {
      expect(await ended).toEqual({ code: 1, errors: '' });
      const lines = log.map(({ msg }) => msg);
      expect(lines.slice(0, 2)).toEqual(['database is not up yet', 'database is not up yet']);
      expect(lines.at(-1)).toBe('cannot migrate the database');
      expect(JSON.stringify(log)).not.toContain('pa55word');
    }
  },
  120_000,
);

const head = 'POST /notes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
const answeredEarly = `${head.replace('notes', 'nowhere')}Content-Length: 100\r\n\r\n`;
const aGet = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n';

test.concurrent.each([
  {
    part: 'headers in 5 s',
    earliest: 4_900,
    latest: 9_800,
    // A request without its headers has no method and no URL.
    line: { status: 408 },
    slow: [
      { start: '', then: '' },
      { start: head, then: '' },
      { start: 'P', then: head.slice(1) },
      { start: `${head}X-Slow: `, then: 'a'.repeat(100) },
      { before: aGet, start: `${head}X-Slow: `, then: 'a'.repeat(100) },
    ],
  },
  {
    part: 'body in 10 s',
    earliest: 9_900,
    latest: 20_000,
    line: { status: 408, reqId: expect.any(String), method: 'POST', url: '/notes' },
    slow: [
      { start: `${head}Content-Length: 100\r\n\r\n`, then: '' },
      { start: `${head}Content-Length: 100\r\n\r\n{"title":"`, then: 'a'.repeat(100) },
      { start: `${head}Transfer-Encoding: chunked\r\n\r\n`, then: '1\r\na\r\n'.repeat(100) },
      { before: aGet, start: `${head}Content-Length: 100\r\n\r\n{"title":"`, then: 'a'.repeat(100) },
      { start: answeredEarly, then: 'a'.repeat(100) },
    ],
  },
])(
  'closes connections that do not send $part, with one line in the log each',
  async ({ slow, earliest, latest, line }) => {
    const { url: DATABASE_URL } = await createDatabase();
    const service = startNotes({ DATABASE_URL });
    const url = await service.listening();
    const closed = Promise.all(slow.map((request) => timeUntilClosed(url, request)));
    expect(await send(url, '/notes')).toMatchObject({ status: 200 });
    for (const { said, ms } of await closed) {
      expect(said).toMatch(/^(HTTP\/1\.1 (408|404) |$)/);
      // The client would take a second response for that to its next request.
      expect(said).not.toMatch(/ 404 .* 408 /s);
      expect(ms).toBeGreaterThan(earliest);
      expect(ms).toBeLessThan(latest);
    }
    service.child.kill('SIGTERM');
    await service.ended;
    const lines = service.log.filter(
      ({ msg, method, url }) => msg === 'request' && method !== 'GET' && url !== '/nowhere',
    );
    expect(lines).toMatchObject(slow.filter(({ start }) => start !== answeredEarly).map(() => line));
  },
);

/** Sends the request `before`, if any, then `start`, then a byte of `then` each half second. */
async function timeUntilClosed(url: string, { before, start, then }: { before?: string; start: string; then: string }) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  // The client sends more after the service has closed the connection.
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  if (before) {
    socket.write(before);
    await once(socket, 'data');
  }
  let said = '';
  socket.on('data', (data) => (said += data.toString()));
  socket.write(start);
  const startedAt = performance.now();
  let sent = 0;
  const trickle = setInterval(() => socket.write(then.charAt(sent++)), 500);
  await closed;
  clearInterval(trickle);
  return { said, ms: performance.now() - startedAt };
}

test.concurrent.each([
  { delay: 'by default', environment: { NODE_ENV: 'production' } },
  { delay: 'of 5000', environment: { SHUTDOWN_DELAY_MS: '5000' } },
])('SIGTERM, SHUTDOWN_DELAY_MS $delay: closes stalled readers and exits with 0 in 10 s', async ({ environment }) => {
  const { url: DATABASE_URL } = await createDatabase();
  const service = startNotes({ DATABASE_URL, ...environment });
  const url = await service.listening();
  const db = openTestConnection(DATABASE_URL);
  await sql`insert into note (title) select repeat('x', 150) from generate_series(1, 200000)`.execute(db);
  const readers = await Promise.all(Array.from({ length: 5 }, () => openList(`${url}/notes?limit=200000`)));
  const old = await openOverHttp10(`${url}/notes?limit=200000`);
  const outcome = await db.transaction().execute(async (locking) => {
    await sql`select from note where id = 1 for update`.execute(locking);
    const signalledAt = performance.now();
    service.child.kill('SIGTERM');
    await service.logged(/^draining/);
    const traffic = load(url, [{ method: 'PUT', path: '/notes/1', body: { title: 'a' } }], 40);
    const [waiting] = await traffic.refused();
    expect(await service.ended).toEqual({ code: 0, errors: '' });
    expect(performance.now() - signalledAt).toBeLessThan(withMargin(10_000));
    return waiting;
  });
  await db.destroy();
  expect([500, 503]).toContain(outcome!.status ?? 500);
  expect(service.log.filter(({ aborted, method }) => aborted && method === 'GET')).toHaveLength(readers.length + 1);
  // Otherwise, a client of HTTP/1.0 takes the part for the whole list.
  old.reader.resume();
  expect(await old.ended).toBe('ECONNRESET');
  // The buffers hold a part of the list.
  for (const reader of readers) {
    await finished(reader.resume()).catch(() => undefined);
    expect(reader.complete).toBe(false);
  }
});
