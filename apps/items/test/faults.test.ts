import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { openDatabase } from '@rest-services/database';
import { freePort, startCluster, type Cluster } from '@rest-services/local-postgres';
import { load, startProcess, type Outcome } from '@rest-services/service/testing';
import { sql } from 'kysely';

// The service and a database server of its own, which fails in the ways that servers fail, under load.

const main = join(import.meta.dirname, '../src/main.ts');

/** Within which a request is answered, whatever the database does. */
const ANSWER_LIMIT_MS = 3_000;

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

/** Starts database and service with one item. */
async function startBoth(environment: NodeJS.ProcessEnv = {}) {
  const { url: databaseUrl, pid } = await startDatabase();
  service = startProcess(main, { DATABASE_URL: databaseUrl, ...environment });
  const url = await service.listening();
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"title":"a"}' };
  const { id } = (await (await fetch(`${url}/v1/items`, init)).json()) as { id: number };
  return { url, databaseUrl, pid, paths: [`/v1/items/${id}`, '/v1/items', '/v1/items/summary'] };
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

/** In time, and in the words of the contract: a 500 that says no more than a code, or a 503. */
function expectContract(outcomes: Outcome[]) {
  for (const { status, body, ms, failure } of outcomes) {
    expect([failure, ms < ANSWER_LIMIT_MS]).toEqual([undefined, true]);
    if (status === 500) {
      const error = { code: expect.stringMatching(/^[A-Z0-9_]+$/) };
      expect(JSON.parse(body!)).toEqual({ message: 'Database error', error });
    } else if (status === 503) {
      expect(JSON.parse(body!)).toEqual({ message: 'The service is overloaded, try again in a moment' });
    } else expect(status).toBe(200);
  }
}

test('Start: the service retries while the database is not up yet, with a log line, and serves as soon as it is', async () => {
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
  ] as const)(
    'requests answer the contract’s 500 within 3 s while it is %s, and succeed afterwards with no restart',
    async (_, signal) => {
      const { url, pid, paths } = await startBoth();
      const traffic = load(url, paths, 16);
      await traffic.until(({ status }) => status === 200, 100);

      process.kill(pid, signal);
      await traffic.until(({ status }) => status === 500, 100);
      expect(await (await fetch(`${url}/livez`)).json()).toEqual({ message: 'alive' });
      expect(await readiness(url)).toEqual([503, { message: 'database unreachable' }]);

      await startDatabase();
      await traffic.until(({ status }) => status === 200, 100);
      expect(await readiness(url)).toEqual([200, { message: 'ready' }]);
      const outcomes = await traffic.stop();
      expectContract(outcomes);
      expect(outcomes.filter(({ status }) => status === 503)).toEqual([]);
      service!.child.kill('SIGTERM');
      expect((await service!.ended).code).toBe(0);
    },
  );

  test('requests answer within 3 s while it hangs, nothing queues without bound, and all goes on when it answers again', async () => {
    const { url, databaseUrl, pid, paths } = await startBoth({ DATABASE_POOL_MAX: '2' });
    const pids: number[] = [];
    const signalAll = (signal: NodeJS.Signals) => {
      for (const each of pids) {
        try {
          process.kill(each, signal);
        } catch {
          // A worker that has ended since.
        }
      }
    };
    const traffic = load(url, paths, 230);
    await traffic.until(({ status }) => status === 200, 300);

    pids.push(pid, ...(await serverProcesses(databaseUrl)));
    signalAll('SIGSTOP');
    try {
      await traffic.until(({ status }) => status === 500, 400);
      const times: number[] = [];
      for (let turn = 0; turn < 5; turn += 1) {
        const askedAt = performance.now();
        expect((await fetch(`${url}/livez`)).status).toBe(200);
        times.push(performance.now() - askedAt);
      }
      expect(Math.min(...times)).toBeLessThan(100);
      expect(await readiness(url)).toEqual([503, { message: 'database unreachable' }]);
      expect(await metric(url, 'database_pool_connections{state="waiting"}')).toBeLessThanOrEqual(200);
      expect(await metric(url, 'process_resident_memory_bytes')).toBeLessThan(256 * 1024 ** 2);
    } finally {
      signalAll('SIGCONT');
    }
    await traffic.until(({ status }) => status === 200, 300);
    expectContract(await traffic.stop());
    expect(await readiness(url)).toEqual([200, { message: 'ready' }]);
  });
});

test('More work than it can do: 503 with Retry-After, quickly, while those who came first get their answers', async () => {
  const { url, databaseUrl, paths } = await startBoth({ DATABASE_POOL_MAX: '1' });
  const other = openDatabase({ url: databaseUrl, poolMax: 1, onConnectionError: () => undefined });
  const traffic = load(url, paths, 150);
  await traffic.until(({ status }) => status === 200, 100);
  const refused = await other.transaction().execute(async (locking) => {
    await sql`lock table item in access exclusive mode`.execute(locking);
    await traffic.until(({ status }) => status === 503, 50);
    // It is busy, and should get traffic all the same.
    expect(await readiness(url)).toEqual([200, { message: 'ready' }]);
    return fetch(url + paths[0]!);
  });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  await traffic.until(({ status }) => status === 200, 150);
  expectContract(await traffic.stop());
  await other.destroy();
});

/** Everything that belongs to the server but its first process. */
async function serverProcesses(url: string) {
  const db = openDatabase({ url, poolMax: 1, onConnectionError: () => undefined });
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity where pid <> pg_backend_pid()`.execute(
    db,
  );
  await db.destroy();
  return rows.map(({ pid }) => pid);
}
