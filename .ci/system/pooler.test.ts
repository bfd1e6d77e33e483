import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createTestDatabase, freePort, type TestDatabase } from '@rest-services/local-postgres';
import { load, startProcess, type LogLine, type Outcome } from '@rest-services/testing';
import pg from 'pg';
import { startProgram } from './program.ts';

const main = join(import.meta.dirname, '..', '..', 'apps', 'items', 'dist', 'main.js');

let database: TestDatabase;
let pooler: Awaited<ReturnType<typeof startProgram>>;

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await pooler.stop();
  await database.drop();
});

/** @returns the connection string that leads through it */
async function startPooler(settings = '', port?: number) {
  const server = new URL(database.url);
  port ??= await freePort();
  const ini = `
[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
pool_mode = transaction
default_pool_size = 4
auth_type = scram-sha-256
auth_file = FOLDER/users
unix_socket_dir =
log_connections = 0
log_disconnections = 0
${settings}
`;
  const users = `"${server.username}" "${server.password}"\n`;
  pooler = await startProgram('pgbouncer', ['FOLDER/ini'], { ini, users }, port);
  const url = new URL(database.url);
  url.host = `127.0.0.1:${port}`;
  return url.href;
}

test('Eight replicas start at once on an empty database: DATABASE_MIGRATION_URL leads past a pooler in transaction mode, DATABASE_URL through it', async () => {
  const poolerUrl = await startPooler();
  const replicas = Array.from({ length: 8 }, () =>
    startProcess(main, {
      DATABASE_URL: poolerUrl,
      DATABASE_MIGRATION_URL: database.url,
      DATABASE_POOLER: 'transaction',
    }),
  );
  const urls = await Promise.all(replicas.map(({ listening }) => listening()));
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"title":"a"}' };
  const created = await Promise.all(urls.map((url) => fetch(`${url}/v1/items`, init)));
  expect(created.map(({ status }) => status)).toEqual(urls.map(() => 201));
  for (const url of urls) expect((await fetch(`${url}/readyz`)).status).toBe(200);

  const traffic = load(urls[0]!, ['/v1/items/1', '/v1/items', '/v1/items/summary', '/v1/items?limit=100000'], 64);
  await traffic.until(({ status }) => status === 200, 1_000);
  const outcomes = await traffic.stop();
  expect(outcomes.filter(isFailed)).toEqual([]);

  replicas.forEach(({ child }) => child.kill('SIGTERM'));
  for (const { ended } of replicas) expect(await ended).toEqual({ code: 0, errors: '' });
});

const isFailed = ({ status }: Outcome) => ![200, 201].includes(status!);

test.each([
  ['refuses', ''],
  ['ignores', 'ignore_startup_parameters = options, statement_timeout'],
])('DATABASE_POOLER transaction: works through a pooler that %s parameters', async (_, settings) => {
  expect((await startProcess(main, { DATABASE_URL: database.url }, 'migrate').ended).code).toBe(0);
  const DATABASE_URL = await startPooler(settings);
  const service = startProcess(main, { DATABASE_URL, DATABASE_POOLER: 'transaction', MIGRATE_ON_START: 'false' });
  const url = await service.listening();
  const create = { method: 'POST' as const, path: '/v1/items', body: { title: 'a' } };
  const traffic = load(url, ['/readyz', '/v1/items', create, '/v1/items?page=2', '/v1/items/summary'], 32);
  await traffic.until(({ status }) => status === 200, 200);
  expect((await traffic.stop()).filter(isFailed)).toEqual([]);
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
});

/** PgBouncer keeps prepared statements since release 1.21; Debian 12 has 1.18. */
const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' }))!;
const testPrepared = Number(major) > 1 || Number(minor) >= 21 ? test : test.skip;

testPrepared('DATABASE_POOLER prepared-transaction: prepares statements through the pooler', async () => {
  expect((await startProcess(main, { DATABASE_URL: database.url }, 'migrate').ended).code).toBe(0);
  const DATABASE_URL = await startPooler('max_prepared_statements = 100');
  const service = startProcess(main, { DATABASE_URL, DATABASE_POOLER: 'prepared-transaction' });
  const url = await service.listening();
  const create = { method: 'POST' as const, path: '/v1/items', body: { title: 'a' } };
  const traffic = load(url, ['/readyz', '/v1/items', create, '/v1/items?page=2', '/v1/items/summary'], 32);
  await traffic.until(({ status }) => status === 200, 200);
  expect((await traffic.stop()).filter(isFailed)).toEqual([]);
  const through = new pg.Client(DATABASE_URL);
  await through.connect();
  const { rows } = await through.query<{ count: number }>('select count(*)::int as count from pg_prepared_statements');
  expect(rows[0]!.count).toBeGreaterThan(0);
  await through.end();
});

test.each([
  ['refuses', ''],
  ['ignores', 'ignore_startup_parameters = options, statement_timeout'],
])('without DATABASE_POOLER, ends at a pooler that %s parameters and names the setting', async (_, settings) => {
  expect((await startProcess(main, { DATABASE_URL: database.url }, 'migrate').ended).code).toBe(0);
  const service = startProcess(main, { DATABASE_URL: await startPooler(settings), MIGRATE_ON_START: 'false' });
  expect(await service.ended).toEqual({ code: 1, errors: '' });
  const message = 'DATABASE_POOLER must be transaction or prepared-transaction: DATABASE_URL leads to a pooler';
  expect(service.log).toEqual([expect.objectContaining({ level: 60, err: expect.objectContaining({ message }) })]);
});

test('without DATABASE_POOLER, is not ready at a pooler that it meets after its start, and logs the setting', async () => {
  expect((await startProcess(main, { DATABASE_URL: database.url }, 'migrate').ended).code).toBe(0);
  const port = await freePort();
  const DATABASE_URL = Object.assign(new URL(database.url), { host: `127.0.0.1:${port}` }).href;
  const service = startProcess(main, { DATABASE_URL, MIGRATE_ON_START: 'false' });
  const url = await service.listening();
  await startPooler('ignore_startup_parameters = options, statement_timeout', port);
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  const namesSetting = ({ err }: LogLine) =>
    /^DATABASE_POOLER must be transaction or prepared-transaction/.test((err as Error | undefined)?.message ?? '');
  expect(await service.logged(namesSetting)).toMatchObject({ msg: 'Not ready' });
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
});

test('`main.js migrate` through a pooler exits with 0 when no migration is pending', async () => {
  expect((await startProcess(main, { DATABASE_URL: database.url }, 'migrate').ended).code).toBe(0);
  const job = startProcess(main, { DATABASE_URL: await startPooler(), DATABASE_POOLER: 'transaction' }, 'migrate');
  expect(await job.ended).toEqual({ code: 0, errors: '' });
});

test.each([
  ['refuses', ''],
  ['ignores', 'ignore_startup_parameters = options, statement_timeout'],
])('Migrations refuse to go through a pooler that %s parameters, which keeps no lock for them', async (_, settings) => {
  const poolerUrl = await startPooler(settings);
  // As many as would share its sessions.
  const jobs = Array.from({ length: 4 }, () => startProcess(main, { DATABASE_URL: poolerUrl }, 'migrate'));
  for (const { ended, log } of jobs) {
    expect(await ended).toEqual({ code: 1, errors: '' });
    const message: unknown = expect.stringContaining('DATABASE_MIGRATION_URL must lead to the server itself');
    expect(log).toEqual([
      expect.objectContaining({
        msg: 'cannot migrate the database',
        err: expect.objectContaining({ code: '08P01', message }),
      }),
    ]);
  }
  // No lock is left with a session of the pooler.
  expect((await startProcess(main, { DATABASE_URL: database.url }, 'migrate').ended).code).toBe(0);
});
