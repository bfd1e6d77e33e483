import { afterEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, freePort } from '@rest-services/local-postgres';
import { load, processesOf, type LogLine, unlike } from '@rest-services/testing';
import { install, main, startProgram } from './program.ts';

install('pgbouncer');

let pooler: Awaited<ReturnType<typeof startProgram>>;

/** @returns the connection string that leads through it */
async function startPooler(databaseUrl: string, settings = '', port?: number) {
  const url = new URL(databaseUrl);
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
  url.port = `${port}`;
  return url.href;
}
afterEach(() => pooler.stop());

/** What a pooler does with the parameters of a session, and the settings by which it does. */
const POOLERS = [
  ['refuses', ''],
  ['ignores', 'ignore_startup_parameters = options'],
] as const;

const create = { method: 'POST' as const, path: '/v1/items', body: { title: 'a' } };

/** Expects that each of 300 requests of many clients succeeds, and then a clean end. */
async function expectService(service: ReturnType<ReturnType<typeof processesOf>['start']>) {
  const url = await service.listening();
  const paths = ['/readyz', '/v1/items', create, '/v1/items?page=2', '/v1/items/summary', '/v1/items?limit=100000'];
  const traffic = load(url, paths, 48);
  await traffic.until(({ status }) => status === 200, 300);
  expect(unlike(await traffic.stop(), 200, 201)).toEqual([]);
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
}

describe('On an empty database', () => {
  const processes = processesOf(main, () => createTestDatabase());

  test('eight replicas start at once, with DATABASE_MIGRATION_URL past the pooler', async () => {
    const DATABASE_URL = await startPooler(processes.database.url);
    const DATABASE_MIGRATION_URL = processes.database.url;
    const replicas = Array.from({ length: 8 }, () =>
      processes.start({ DATABASE_URL, DATABASE_MIGRATION_URL, DATABASE_POOLER: 'transaction' }),
    );
    const urls = await Promise.all(replicas.map(({ listening }) => listening()));
    for (const url of urls) expect((await fetch(`${url}/readyz`)).status).toBe(200);
    await expectService(replicas[0]!);
  });

  test.each(POOLERS)('migrations end at a pooler that %s parameters, and leave no lock there', async (_, settings) => {
    const DATABASE_URL = await startPooler(processes.database.url, settings);
    // As many as would share its sessions.
    const jobs = Array.from({ length: 4 }, () => processes.start({ DATABASE_URL }, 'migrate'));
    const message: unknown = expect.stringContaining('DATABASE_MIGRATION_URL must lead to the server itself');
    for (const { ended, log } of jobs) {
      expect(await ended).toEqual({ code: 1, errors: '' });
      const err: unknown = expect.objectContaining({ code: '08P01', message });
      expect(log).toEqual([expect.objectContaining({ msg: 'cannot migrate the database', err })]);
    }
    expect((await processes.start({}, 'migrate').ended).code).toBe(0);
  });
});

describe('On a migrated database', () => {
  const processes = processesOf(main);
  const startThrough = async (settings: string, environment: NodeJS.ProcessEnv) =>
    processes.start({ DATABASE_URL: await startPooler(processes.database.url, settings), ...environment });
  const message = 'DATABASE_POOLER must be transaction: DATABASE_URL leads to a pooler';

  test.each(POOLERS)(
    'with nothing to migrate, a service works through a pooler that %s parameters',
    async (_, settings) => {
      await expectService(await startThrough(settings, { DATABASE_POOLER: 'transaction' }));
    },
  );

  test.each(POOLERS)('without the setting, a service ends at a pooler that %s parameters', async (_, settings) => {
    const DATABASE_URL = await startPooler(processes.database.url, settings);
    // With nothing to migrate, the migration finds no pooler.
    for (const MIGRATE_ON_START of ['false', 'true']) {
      const { ended, log } = processes.start({ DATABASE_URL, MIGRATE_ON_START });
      expect(await ended).toEqual({ code: 1, errors: '' });
      expect(log.at(-1)).toMatchObject({ level: 60, err: { message } });
    }
  });

  test('without the setting, a service that meets a pooler later is not ready and names it', async () => {
    const port = await freePort();
    const DATABASE_URL = Object.assign(new URL(processes.database.url), { port: `${port}` }).href;
    const service = processes.start({ DATABASE_URL, MIGRATE_ON_START: 'false' });
    const url = await service.listening();
    await startPooler(processes.database.url, POOLERS[1][1], port);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    const namesSetting = ({ err }: LogLine) => (err as Error | undefined)?.message === message;
    expect(await service.logged(namesSetting)).toMatchObject({ msg: 'Not ready' });
  });
});
