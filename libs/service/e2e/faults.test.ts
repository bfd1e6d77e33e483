import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { freePort, signalServer, startCluster, type Cluster } from '@rest-services/local-postgres';
import { load, openTestConnection, send, startProcess, type Outcome, type Write } from '@rest-services/testing';
import { getJson, scrape } from '../test/http.ts';
import { notesMain } from '../test/notes/bundled.ts';
import type { NotesDatabase } from '../test/notes/database.ts';
import { expectContract } from './expect-contract.ts';

// Failures of the database server under load.

/** Reasons of refusals when something is full. */
const FULL = ['memory', 'pool_queue', 'row_queue'];

const ready = [200, { message: 'ready' }];
const unreachable = [503, { message: 'database unreachable' }];

const directory = await mkdtemp(join(tmpdir(), 'faults-postgres-'));
const port = await freePort();
let database: Cluster;
let service: ReturnType<typeof startProcess>;

const startDatabase = async () => (database = await startCluster(directory, { durable: true, port }));

afterEach(async () => {
  service.child.kill('SIGKILL');
  await service.ended;
  await database.stop();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Starts database and service with one note. */
async function startBoth(environment: NodeJS.ProcessEnv = {}) {
  const { url: databaseUrl } = await startDatabase();
  service = startProcess(notesMain(), { DATABASE_URL: databaseUrl, ...environment });
  const url = await service.listening();
  const db = openTestConnection<NotesDatabase>(databaseUrl);
  const { id } = await db.insertInto('note').values({ title: 'a' }).returning('id').executeTakeFirstOrThrow();
  await db.destroy();
  const writes: Write[] = [
    { method: 'POST', path: '/notes', body: { title: 'b' } },
    { method: 'PUT', path: `/notes/${id}`, body: { title: 'c' } },
  ];
  return { url, paths: [`/notes/${id}`, '/notes', '/notes/summary'], writes };
}

const isSuccess = ({ status }: Outcome) => status === 200 || status === 201;
const isFailure = ({ status }: Outcome) => status === 500;

test('The service logs and retries until the database is up, and serves then', async () => {
  const { url } = await startDatabase();
  await database.stop();
  service = startProcess(notesMain(), { DATABASE_URL: url });
  await service.logged(/^database is not up yet/);
  await startDatabase();
  expect(await getJson(`${await service.listening()}/readyz`)).toEqual(ready);
});

test('Requests get 500 within 3 s while the database is down, and succeed afterwards', async () => {
  const { url, paths } = await startBoth();
  const traffic = load(url, paths, 16);
  await traffic.until(isSuccess, 100);

  // As `pg_ctl stop -m immediate`.
  process.kill(database.pid, 'SIGQUIT');
  await traffic.until(isFailure, 100);
  expect(await getJson(`${url}/livez`)).toEqual([200, { message: 'alive' }]);
  expect(await getJson(`${url}/readyz`)).toEqual(unreachable);
  const why = { reason: 'database unreachable', err: { code: expect.any(String) } };
  expect(await service.logged(/^Not ready$/)).toMatchObject({ level: 40, ...why });

  await startDatabase();
  await traffic.until(isSuccess, 100);
  expect(await getJson(`${url}/readyz`)).toEqual(ready);
  const since = { reason: 'database unreachable', ms: expect.any(Number) };
  expect(await service.logged(/^Ready again$/)).toMatchObject(since);
  expectContract(service, await traffic.stop());
  // Clients of a busy machine may wait too long for a connection, but 16 of them fill no queue.
  expect(service.log.filter(({ reason }) => FULL.includes(reason as string))).toEqual([]);
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(0);
});

test('A database frozen for 15 s: responses within 3 s, bounded queues, and recovery afterwards', async () => {
  const CLIENTS = 230;
  const { url, paths, writes } = await startBoth({ DATABASE_POOL_MAX: '2' });
  const traffic = load(url, [...paths, ...writes], CLIENTS);
  await traffic.until(isSuccess, 300);

  const livezTimes: number[] = [];
  await signalServer(database.pid, 'SIGSTOP');
  const frozenSince = performance.now();
  try {
    do {
      await traffic.until(isFailure, CLIENTS);
      const askedAt = performance.now();
      expect((await fetch(`${url}/livez`)).status).toBe(200);
      livezTimes.push(performance.now() - askedAt);
      const metrics = await scrape(url);
      expect(metrics.get('database_pool_connections{state="waiting"}')).toBeLessThanOrEqual(200);
      expect(metrics.get('process_resident_memory_bytes')).toBeLessThan(256 * 1_024 ** 2);
    } while (performance.now() - frozenSince < 15_000);
    expect(await getJson(`${url}/readyz`)).toEqual(unreachable);
  } finally {
    await signalServer(database.pid, 'SIGCONT');
  }
  await traffic.until(isSuccess, 300);
  const outcomes = await traffic.stop();
  expectContract(service, outcomes);
  expect(Math.min(...livezTimes)).toBeLessThan(Math.min(...outcomes.filter(isFailure).map(({ ms }) => ms)));
  expect(await getJson(`${url}/readyz`)).toEqual(ready);
});

test('SIGTERM while the database is frozen: requests in flight get responses, exit 0', async () => {
  const { url, paths, writes } = await startBoth();
  await Promise.all(Array.from({ length: 20 }, () => send(url, paths[0]!)));
  await signalServer(database.pid, 'SIGSTOP');
  const hanging = [...paths, ...writes].map((what) => send(url, what));
  // Its response comes after the service has read the other requests.
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  service.child.kill('SIGTERM');
  // After 10 s, the code is 1.
  const { code } = await service.ended;
  await signalServer(database.pid, 'SIGCONT');
  expect(code).toBe(0);
  const outcomes = await Promise.all(hanging);
  expectContract(service, outcomes);
  expect(outcomes.every(isFailure)).toBe(true);
});
