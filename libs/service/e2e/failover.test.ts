import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { replication } from '@rest-services/local-postgres';
import { load, openTestConnection, send, startProcess, withMargin, type Outcome } from '@rest-services/testing';
import { notesMain } from '../test/notes/bundled.ts';
import type { NotesDatabase } from '../test/notes/database.ts';

type Server = replication.ReplicationServer;

const { follow, kill, promote, setSynchronous, signal, startPrimary, startStandby, stop } = replication;

// A primary and a synchronous standby. The service has both in its connection string.

const main = notesMain();

/** Maximum time of a response, also during a failover. */
const RESPONSE_LIMIT_MS = withMargin(3_000);

/** Maximum time from the promotion to the end of the first write after it. */
const FIRST_WRITE_LIMIT_MS = withMargin(2_000);

let directory: string;
let primary: Server;
let standby: Server;
let service: ReturnType<typeof startProcess> | undefined;

beforeAll(async () => (directory = await mkdtemp(join(tmpdir(), 'failover-'))));
beforeEach(async () => {
  const folder = await mkdtemp(join(directory, 'test-'));
  primary = await startPrimary(join(folder, 'a'));
  standby = await startStandby(primary, join(folder, 'b'), { name: 'b' });
  await setSynchronous(primary, 'b');
});
afterEach(async () => {
  service?.child.kill('SIGKILL');
  await service?.ended;
  await Promise.all([primary, standby].map((server) => stop(server, 'immediate')));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Starts the service on both servers. */
async function startBoth(attributes = 'read-write') {
  const url = new URL(primary.url);
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
  service = startProcess(main, {
    DATABASE_URL: `postgres://${url.username}:${url.password}@${hosts}/postgres?target_session_attrs=${attributes}`,
  });
  return service.listening();
}

async function readiness(url: string) {
  const response = await fetch(`${url}/readyz`);
  return [response.status, await response.json()];
}

async function metrics(url: string) {
  return (await (await fetch(`${url}/metrics`)).text()).split('\n').filter((line) => !line.startsWith('#'));
}

/** Four clients that write without pause, and four that read. */
async function traffic(url: string) {
  let next = 0;
  await send(url, { method: 'POST', path: '/notes', body: { title: 'first' } });
  const acknowledged = new Map<number, string>();
  const outcomes: (Outcome & { endedAt: number })[] = [];
  const waiting = new Set<() => void>();
  let isStopped = false;

  async function write() {
    while (!isStopped) {
      const title = `note ${next++}`;
      const outcome = await send(url, { method: 'POST', path: '/notes', body: { title } });
      if (outcome.status === 201) acknowledged.set((JSON.parse(outcome.body!) as { id: number }).id, title);
      outcomes.push({ ...outcome, endedAt: performance.now() });
      waiting.forEach((wake) => wake());
    }
  }
  const writers = Promise.all(Array.from({ length: 4 }, write));
  const readers = load(url, ['/notes', '/notes/1', '/notes/summary'], 4);

  const successes = () => outcomes.filter(({ status }) => status === 201);
  return {
    acknowledged,
    /** Settles with the end of the first of `count` writes that succeed from now on. */
    written: async (count: number) => {
      const from = successes().length;
      await new Promise<void>((resolve) => {
        const wake = () => {
          if (successes().length < from + count) return;
          waiting.delete(wake);
          resolve();
        };
        waiting.add(wake);
      });
      return successes()[from]!.endedAt;
    },
    stop: async () => {
      isStopped = true;
      await writers;
      return [...outcomes, ...(await readers.stop())];
    },
  };
}

/** Expects that every acknowledged note is there, and that each response was in time. */
async function expectNothingLost(clients: Awaited<ReturnType<typeof traffic>>, { url }: Server) {
  const outcomes = await clients.stop();
  const db = openTestConnection<NotesDatabase>(url);
  const rows = await db.selectFrom('note').select(['id', 'title']).execute();
  await db.destroy();
  const titles = new Map(rows.map(({ id, title }) => [id, title]));
  expect([...clients.acknowledged].filter(([id, title]) => titles.get(id) !== title)).toEqual([]);
  expect(outcomes.filter(({ status = 0 }) => ![200, 201, 500, 503].includes(status))).toEqual([]);
  // The service's log has the times, because the clients read late on a busy machine.
  const times = service!.log.filter(({ msg }) => msg === 'request').map(({ ms }) => ms as number);
  expect(Math.max(...times)).toBeLessThan(RESPONSE_LIMIT_MS);
  expect(service!.child.exitCode).toBeNull();
}

test('loses no acknowledged write when the primary is killed and the standby promoted', async () => {
  const url = await startBoth();
  const clients = await traffic(url);
  await clients.written(100);

  await kill(primary);
  await becomesReadOnly(url);
  await promote(standby);
  const promotedAt = performance.now();
  expect((await clients.written(100)) - promotedAt).toBeLessThan(FIRST_WRITE_LIMIT_MS);

  await expectNothingLost(clients, standby);
  expect(await readiness(url)).toEqual([200, { message: 'ready' }]);
  const change = { server: `127.0.0.1:${standby.port}`, previous: `127.0.0.1:${primary.port}` };
  expect(await service!.logged(({ previous }) => previous !== undefined)).toMatchObject({
    level: 30,
    msg: 'Database server selected',
    ...change,
  });
  // On a busy machine, the standby may look unreachable at last.
  expect(await service!.logged(/^Ready again$/)).toMatchObject({ reason: expect.stringMatching(/^database /) });
  expect(await metrics(url)).toEqual(
    expect.arrayContaining([`database_server_info{server="127.0.0.1:${standby.port}"} 1`, 'database_read_only 0']),
  );
});

/** Waits until the service says that no server takes writes. Until its sessions have noticed, it may say “unreachable”. */
async function becomesReadOnly(url: string) {
  await service!.logged(/^database connection lost$/);
  let current: unknown;
  do current = await readiness(url);
  while (isDeepStrictEqual(current, [503, { message: 'database unreachable' }]));
  expect(current).toEqual([503, { message: 'database is read-only' }]);
  expect(await metrics(url)).toContain('database_read_only 1');
  const notReady = await service!.logged(
    ({ msg, reason }) => msg === 'Not ready' && reason === 'database is read-only',
  );
  expect(notReady).toMatchObject({ err: { code: '25006' } });
}

test('loses no acknowledged write when the primary is shut down, and becomes the standby', async () => {
  const url = await startBoth();
  const clients = await traffic(url);
  await clients.written(100);

  await stop(primary);
  await promote(standby);
  const promotedAt = performance.now();
  expect((await clients.written(100)) - promotedAt).toBeLessThan(FIRST_WRITE_LIMIT_MS);
  await follow(primary, standby, { name: 'a' });
  await clients.written(100);

  await expectNothingLost(clients, standby);
  const server = `127.0.0.1:${standby.port}`;
  expect(await metrics(url)).toContain(`database_server_info{server="${server}"} 1`);
});

test('goes on at the promoted standby when the primary falls silent', async () => {
  const url = await startBoth();
  const clients = await traffic(url);
  await clients.written(100);

  await signal(primary, 'SIGSTOP');
  await promote(standby);
  await clients.written(100);
  await expectNothingLost(clients, standby);
  await signal(primary, 'SIGCONT');
});

describe('A single server that is a standby', () => {
  test('makes the service not ready until it is promoted, without a restart', async () => {
    const url = await startBoth('read-write');
    expect(await readiness(url)).toEqual([200, { message: 'ready' }]);
    service!.child.kill('SIGKILL');
    await service!.ended;

    service = startProcess(main, { DATABASE_URL: standby.url });
    const onStandby = await service.listening();
    expect(await readiness(onStandby)).toEqual([503, { message: 'database is read-only' }]);
    expect((await fetch(`${onStandby}/notes`)).status).toBe(200);
    // The last response of a read does not hide that no write would succeed.
    expect(await readiness(onStandby)).toEqual([503, { message: 'database is read-only' }]);
    const write = await send(onStandby, { method: 'POST', path: '/notes', body: { title: 'a' } });
    expect(JSON.parse(write.body!)).toMatchObject({ error: { code: '25006' } });
    expect(await metrics(onStandby)).toContain('database_read_only 1');

    await kill(primary);
    await promote(standby);
    expect(await readiness(onStandby)).toEqual([200, { message: 'ready' }]);
    const next = await send(onStandby, { method: 'POST', path: '/notes', body: { title: 'a' } });
    expect(next.status).toBe(201);
    expect(await metrics(onStandby)).toContain('database_read_only 0');
  });
});
