import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort, signalServer, startCluster, type Cluster } from '@rest-services/local-postgres';
import {
  type Outcome,
  type Write,
  load,
  openTestConnection,
  send,
  sendJson,
  startProcess,
  withMargin,
} from '@rest-services/testing';
import { sql } from 'kysely';
import { notesMain } from '../test/notes/bundled.ts';
import type { NotesDatabase } from '../test/notes/database.ts';

// Failures of the database server under load.

const main = notesMain();

/** Maximum time of a response, also while the database fails. */
const RESPONSE_LIMIT_MS = withMargin(3_000);

/** Reasons of refusals when something is full. */
const FULL = ['memory', 'pool_queue', 'row_queue'];

let directory: string;
let port: number;
let database: Cluster | undefined;
let service: ReturnType<typeof startProcess> | undefined;

const startDatabase = async () => (database = await startCluster(directory, { durable: true, port }));

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'faults-postgres-'));
  port = await freePort();
});
afterEach(async () => {
  service?.child.kill('SIGKILL');
  await service?.ended;
  await database?.stop();
  service = database = undefined;
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Starts database and service with one note. */
async function startBoth(environment: NodeJS.ProcessEnv = {}) {
  const { url: databaseUrl, pid } = await startDatabase();
  service = startProcess(main, { DATABASE_URL: databaseUrl, ...environment });
  const url = await service.listening();
  const db = openTestConnection<NotesDatabase>(databaseUrl);
  const { id } = await db.insertInto('note').values({ title: 'a' }).returning('id').executeTakeFirstOrThrow();
  await db.destroy();
  const writes: Write[] = [
    { method: 'POST', path: '/notes', body: { title: 'b' } },
    { method: 'PUT', path: `/notes/${id}`, body: { title: 'c' } },
  ];
  return { url, databaseUrl, pid, paths: [`/notes/${id}`, '/notes', '/notes/summary'], writes };
}

async function readiness(url: string) {
  const response = await fetch(`${url}/readyz`);
  return [response.status, await response.json()];
}

async function metric(url: string, line: string) {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((each) => each.startsWith(`${line} `))!
      .split(' ')
      .pop(),
  );
}

/**
 * Expects successes, 503s, and 500s with nothing but a code, all in time. The service's log has the times, because hundreds of
 * clients in the test process read late on a busy machine.
 */
function expectContract(outcomes: Outcome[]) {
  const times = service!.log.filter(({ msg }) => msg === 'request').map(({ ms }) => ms as number);
  expect(Math.max(0, ...times)).toBeLessThan(RESPONSE_LIMIT_MS);
  for (const { status, body, retryAfter, failure } of outcomes) {
    expect(failure).toBeUndefined();
    if (status === 500) {
      const error = { code: expect.stringMatching(/^[A-Z0-9_]+$/) };
      expect(JSON.parse(body!)).toEqual({ message: 'Database error', error });
    } else if (status === 503) {
      expect(JSON.parse(body!)).toEqual({ message: 'The service is overloaded, try again in a moment' });
      expect(retryAfter).toMatch(/^\d+$/);
    } else expect([200, 201]).toContain(status);
  }
}

test('the service logs and retries until the database is up, and serves then', async () => {
  const { url } = await startDatabase();
  await database!.stop();
  service = startProcess(main, { DATABASE_URL: url });
  await service.logged(/^database is not up yet/);
  await startDatabase();
  expect(await readiness(await service.listening())).toEqual([200, { message: 'ready' }]);
});

describe('The database goes away', () => {
  test.each([
    ['stopped and refuses connections', 'SIGINT'],
    ['restarted with -m immediate', 'SIGQUIT'],
  ] as const)('requests get 500 within 3 s while it is %s, and succeed afterwards', async (_, signal) => {
    const { url, pid, paths } = await startBoth();
    const traffic = load(url, paths, 16);
    await traffic.until(({ status }) => status === 200, 100);

    process.kill(pid, signal);
    await traffic.until(({ status }) => status === 500, 100);
    expect(await (await fetch(`${url}/livez`)).json()).toEqual({ message: 'alive' });
    expect(await readiness(url)).toEqual([503, { message: 'database unreachable' }]);
    const why = { reason: 'database unreachable', err: { code: expect.any(String) } };
    expect(await service!.logged(/^Not ready$/)).toMatchObject({ level: 40, ...why });

    await startDatabase();
    await traffic.until(({ status }) => status === 200, 100);
    expect(await readiness(url)).toEqual([200, { message: 'ready' }]);
    expect(await service!.logged(/^Ready again$/)).toMatchObject({
      reason: 'database unreachable',
      ms: expect.any(Number),
    });
    const outcomes = await traffic.stop();
    expectContract(outcomes);
    // Clients of a busy machine may wait too long for a connection, but 16 of them fill no queue.
    expect(service!.log.filter(({ reason }) => FULL.includes(reason as string))).toEqual([]);
    service!.child.kill('SIGTERM');
    expect((await service!.ended).code).toBe(0);
  });

  test.each([
    [2, 230],
    [15, 100],
  ])('frozen for %d s: responses within 3 s, bounded queues, and recovery afterwards', async (seconds, connections) => {
    const { url, paths, writes } = await startBoth({ DATABASE_POOL_MAX: '2' });
    const traffic = load(url, [...paths, ...writes], connections);
    await traffic.until(({ status }) => status === 200, 300);

    const livezTimes: number[] = [];
    await signalServer(database!.pid, 'SIGSTOP');
    const frozenSince = performance.now();
    try {
      do {
        await traffic.until(({ status }) => status === 500, connections);
        const askedAt = performance.now();
        expect((await fetch(`${url}/livez`)).status).toBe(200);
        livezTimes.push(performance.now() - askedAt);
        expect(await metric(url, 'database_pool_connections{state="waiting"}')).toBeLessThanOrEqual(200);
        expect(await metric(url, 'process_resident_memory_bytes')).toBeLessThan(256 * 1024 ** 2);
      } while (performance.now() - frozenSince < seconds * 1_000);
      expect(await readiness(url)).toEqual([503, { message: 'database unreachable' }]);
    } finally {
      await signalServer(database!.pid, 'SIGCONT');
    }
    await traffic.until(({ status }) => status === 200, 300);
    const outcomes = await traffic.stop();
    expectContract(outcomes);
    const failed = outcomes.filter(({ status }) => status === 500);
    expect(Math.min(...livezTimes)).toBeLessThan(Math.min(...failed.map(({ ms }) => ms)));
    expect(await readiness(url)).toEqual([200, { message: 'ready' }]);
  });

  test('SIGTERM while it is frozen: requests in flight get responses, exit 0 within 10 s', async () => {
    const { url, paths, writes } = await startBoth();
    await Promise.all(Array.from({ length: 20 }, () => send(url, paths[0]!)));
    await signalServer(database!.pid, 'SIGSTOP');
    const hanging = [...paths, ...writes].map((what) => send(url, what));
    // Its response comes after the service has read the other requests.
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    const signalledAt = performance.now();
    service!.child.kill('SIGTERM');
    const { code } = await service!.ended;
    await signalServer(database!.pid, 'SIGCONT');
    expect([code, performance.now() - signalledAt < withMargin(10_000)]).toEqual([0, true]);
    const outcomes = await Promise.all(hanging);
    expectContract(outcomes);
    expect(outcomes.filter(({ status }) => status !== 500)).toEqual([]);
  });
});

test('While writes wait for a standby, the service has no more sessions than its pool, and goes on afterwards', async () => {
  const { url, databaseUrl, writes } = await startBoth({ DATABASE_POOL_MAX: '3' });
  const db = openTestConnection<NotesDatabase>(databaseUrl);
  const waitFor = async (standby: string) => {
    await sql`alter system set synchronous_standby_names = ${sql.lit(standby)}`.execute(db);
    await sql`select pg_reload_conf()`.execute(db);
  };
  const traffic = load(url, writes, 8);
  await traffic.until(({ status }) => status === 200 || status === 201, 20);
  await waitFor('away');
  await traffic.until(({ status }) => status === 500, 20);
  const { rows } = await sql<{ count: number }>`
    select count(*) from pg_stat_activity where application_name = 'notes'`.execute(db);
  // One is that of /readyz.
  expect(rows[0]!.count).toBeLessThanOrEqual(3 + 1);
  await waitFor('');
  await traffic.until(({ status }) => status === 200 || status === 201, 20);
  expectContract(await traffic.stop());
  await db.destroy();
});

test('MIGRATE_ON_START false: /livez responds 200 while the database is down, /readyz 503', async () => {
  const { url: databaseUrl } = await startDatabase();
  service = startProcess(main, { DATABASE_URL: databaseUrl }, 'migrate');
  expect((await service.ended).code).toBe(0);
  await database!.stop();
  service = startProcess(main, { DATABASE_URL: databaseUrl, MIGRATE_ON_START: 'false' });
  const url = await service.listening();
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  expect(await readiness(url)).toEqual([503, { message: 'database unreachable' }]);
  expectContract([await send(url, '/notes')]);
  await startDatabase();
  expect(await readiness(url)).toEqual([200, { message: 'ready' }]);
  expect((await sendJson(url, 'GET', '/notes')).status).toBe(200);
});

test('responds 503 with Retry-After beyond its capacity, and serves the first requests', async () => {
  const { url, databaseUrl } = await startBoth({ DATABASE_POOL_MAX: '1' });
  const other = openTestConnection<NotesDatabase>(databaseUrl);
  // Each page takes a dedicated statement.
  const pages = Array.from({ length: 150 }, (_, index) => `/notes?page=${index + 1}`);
  const outcomes: Outcome[] = [];
  const sent = await other.transaction().execute(async (locking) => {
    await sql`lock table note in access exclusive mode`.execute(locking);
    const requests = pages.map(async (page) => outcomes.push(await send(url, page)));
    const asked = [readiness(url), metric(url, 'database_pool_connections{state="waiting"}')] as const;
    await Promise.race(requests);
    return { requests, asked };
  });
  await Promise.all(sent.requests);
  const [ready, waiting] = await Promise.all(sent.asked);
  // A busy service should still get traffic.
  expect(ready).toEqual([200, { message: 'ready' }]);
  expect(waiting).toBeLessThanOrEqual(100);
  expectContract(outcomes);
  // The first responses are refusals, because waiting requests are still in flight.
  expect(outcomes[0]!.status).toBe(503);
  expect(outcomes.filter(({ status }) => status === 200)).not.toEqual([]);
  expect((await sendJson(url, 'GET', pages[0]!)).status).toBe(200);
  await other.destroy();
});
