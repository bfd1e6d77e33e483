import { afterEach, expect, test } from '@jest/globals';
import { createTestDatabase, freePort } from '@rest-services/local-postgres';
import { load, processesOf, type LogLine, unlike } from '@rest-services/testing';
import { install, main, startProgram } from './program.ts';

install('pgbouncer');

const processes = processesOf(main, createTestDatabase);

let pooler: Awaited<ReturnType<typeof startProgram>>;
afterEach(() => pooler.stop());

/** @returns the connection string that leads through a pooler to the database of the test */
async function startPooler(settings: string, port?: number) {
  const url = new URL(processes.database.url);
  const users = `"${url.username}" "${url.password}"\n`;
  port ??= await freePort();
  const ini = `
[databases]
* = host=${url.hostname} port=${url.port}
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
  pooler = await startProgram('pgbouncer', ['FOLDER/ini'], { ini, users }, port);
  return Object.assign(url, { port: `${port}` }).href;
}
/** What a pooler does with the parameters of a session, and the settings by which it does. */
const POOLERS = [
  ['refuses', ''],
  ['ignores', 'ignore_startup_parameters = options'],
] as const;

const notNamed = 'DATABASE_POOLER must be transaction: DATABASE_URL leads to a pooler';

test.each(POOLERS)('Replicas migrate past a pooler that %s parameters, and work through it', async (_, settings) => {
  const environment = {
    DATABASE_URL: await startPooler(settings),
    DATABASE_MIGRATION_URL: processes.database.url,
    DATABASE_POOLER: 'transaction',
  };
  const replicas = Array.from({ length: 4 }, () => processes.start(environment));
  const urls = await Promise.all(replicas.map(({ listening }) => listening()));
  const create = { method: 'POST' as const, path: '/v1/items', body: { title: 'a' } };
  const paths = ['/readyz', '/v1/items', create, '/v1/items?page=2', '/v1/items/summary', '/v1/items?limit=100000'];
  for (const [index, url] of urls.entries()) {
    const traffic = load(url, paths, 16);
    await traffic.until(({ status }) => status === 200, 100);
    // On a busy machine, some wait for a connection for too long.
    expect(unlike(await traffic.stop(), 200, 201, 503)).toEqual([]);
    replicas[index]!.child.kill('SIGTERM');
    expect(await replicas[index]!.ended).toEqual({ code: 0, errors: '' });
  }
});

test.each(POOLERS)('Migrations end at a pooler that %s parameters, and leave no lock there', async (_, settings) => {
  const DATABASE_URL = await startPooler(settings);
  // As many as would share its sessions.
  const jobs = Array.from({ length: 4 }, () => processes.start({ DATABASE_URL }, 'migrate'));
  const message: unknown = expect.stringContaining('DATABASE_MIGRATION_URL must lead to the server itself');
  for (const { ended, log } of jobs) {
    expect(await ended).toEqual({ code: 1, errors: '' });
    expect(log.at(-1)).toMatchObject({ msg: 'cannot migrate the database', err: { code: '08P01', message } });
  }
  expect((await processes.start({}, 'migrate').ended).code).toBe(0);

  // With nothing to migrate, the migration finds no pooler.
  for (const MIGRATE_ON_START of ['false', 'true']) {
    const { ended, log } = processes.start({ DATABASE_URL, MIGRATE_ON_START });
    expect(await ended).toEqual({ code: 1, errors: '' });
    expect(log.at(-1)).toMatchObject({ level: 60, err: { message: notNamed } });
  }
});

test('Without DATABASE_POOLER, a service that meets a pooler later is not ready and names it', async () => {
  const port = await freePort();
  const DATABASE_URL = Object.assign(new URL(processes.database.url), { port: `${port}` }).href;
  expect((await processes.start({}, 'migrate').ended).code).toBe(0);
  const service = processes.start({ DATABASE_URL, MIGRATE_ON_START: 'false' });
  const url = await service.listening();
  await startPooler(POOLERS[1][1], port);
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  const namesSetting = ({ err }: LogLine) => (err as Error | undefined)?.message === notNamed;
  expect(await service.logged(namesSetting)).toMatchObject({ msg: 'Not ready' });
});
