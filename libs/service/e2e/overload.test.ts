import { spawn, type ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import {
  load,
  openTestConnection,
  send,
  startProcess,
  withMargin,
  type Outcome,
  type Write,
} from '@rest-services/testing';
import { notesMain } from '../test/notes/bundled.ts';
import { sql } from 'kysely';

// More clients than a service with two connections can serve, on a machine whose CPUs are busy with something else.

const main = notesMain();
const CLIENTS = 300;
const BUSY_LOOPS = 2;

/** Maximum time of a response. */
const RESPONSE_LIMIT_MS = withMargin(3_000);

const requests: (string | Write)[] = [
  '/notes/1',
  '/notes',
  '/notes?page=2&limit=3',
  '/notes/summary',
  { method: 'POST', path: '/notes', body: { title: 'a' } },
  { method: 'PUT', path: '/notes/1', body: { title: 'b' } },
  { method: 'PUT', path: '/notes/2', body: { title: 'c' } },
  { method: 'PUT', path: '/notes/1', body: { title: 'd' } },
];

let database: TestDatabase;
let service: ReturnType<typeof startProcess>;
let url: string;
let busyLoops: ChildProcess[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  service = startProcess(main, { DATABASE_URL: database.url, DATABASE_POOL_MAX: '2' });
  url = await service.listening();
  for (const title of ['first', 'second']) await send(url, { method: 'POST', path: '/notes', body: { title } });
  busyLoops = Array.from({ length: BUSY_LOOPS }, () =>
    spawn(process.execPath, ['-e', 'for(;;);'], { stdio: 'ignore' }),
  );
});
afterAll(async () => {
  busyLoops.forEach((loop) => loop.kill('SIGKILL'));
  service.child.kill('SIGTERM');
  await service.ended;
  await database.drop();
});

/** Expects successes and the contract's 503. A database that gets no CPU looks like one that does not respond. */
function expectServedOrRefused(outcomes: Outcome[]) {
  for (const { status, body, retryAfter } of outcomes) {
    if (status === 503) {
      expect(JSON.parse(body!)).toEqual({ message: 'The service is overloaded, try again in a moment' });
      expect(retryAfter).toMatch(/^\d+$/);
    } else if (status === 500) {
      expect(JSON.parse(body!)).toEqual({ message: 'Database error', error: { code: 'ETIMEDOUT' } });
    } else expect([200, 201]).toContain(status);
  }
}

/** Times of all requests in the service's log. The clients share the CPUs with it, and read late. */
const responseTimes = () => service.log.filter(({ msg }) => msg === 'request').map(({ ms }) => ms as number);

/** Connects before there is traffic. Otherwise it would take longer than any timeout. */
async function connected() {
  const other = openTestConnection(database.url);
  await sql`select 1`.execute(other);
  return other;
}

test('more clients than it can serve get a success or 503 within 3 s', async () => {
  const traffic = load(url, requests, CLIENTS);
  await traffic.until(({ status }) => status !== 503, 3_000);
  const outcomes = await traffic.stop();
  expectServedOrRefused(outcomes);
  expect(Math.max(...responseTimes())).toBeLessThan(RESPONSE_LIMIT_MS);
});

test('requests get 503 within 3 s while another session locks the table, and succeed later', async () => {
  const other = await connected();
  const traffic = load(url, requests, CLIENTS);
  await traffic.until(({ status }) => status === 200, 100);
  await other.transaction().execute(async (locking) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(locking);
    await sql`lock table note in access exclusive mode`.execute(locking);
    // One refusal per client: the last clients have waited for the lock since their arrival.
    await traffic.until(({ status }) => status === 503, CLIENTS);
  });
  await other.destroy();
  await traffic.until(({ status }) => status === 200, 100);
  expectServedOrRefused(await traffic.stop());
  expect(Math.max(...responseTimes())).toBeLessThan(RESPONSE_LIMIT_MS);
});

test('/readyz responds 200 while the service is busy, and waits for no lock', async () => {
  expect((await send(url, '/readyz')).status).toBe(200);
  const other = await connected();
  const traffic = load(url, requests, CLIENTS);
  await traffic.until(({ status }) => status === 200, 100);
  await other.transaction().execute(async (locking) => {
    await sql`lock table kysely_migration in access exclusive mode`.execute(locking);
    for (let count = 0; count < 5; count += 1) {
      expect(await send(url, '/readyz')).toMatchObject({ status: 200, body: '{"message":"ready"}' });
    }
  });
  await other.destroy();
  await traffic.stop();
});
