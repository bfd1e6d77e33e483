import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { freePort, startCluster } from '@rest-services/local-postgres';
import { copyWorkspace } from './copy.ts';
import { type } from './terminal.ts';

// It runs an app, on which no lib may depend: as one of local-postgres, this test would not run after a change of the app.
// commands.test.ts types what README.md says to start.

const directory = await mkdtemp(join(tmpdir(), 'stack-test-'));
const copy = join(directory, 'clone');
copyWorkspace(copy);
const cluster = await startCluster(join(directory, 'postgres'), { durable: false });
afterAll(async () => {
  await cluster.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Runs one service from its sources, which need not be built, or what `args` says. */
const start = (environment: NodeJS.ProcessEnv, args = '--watch items') =>
  type(`exec node libs/local-postgres/src/stack/stack.ts ${args}`, {
    cwd: copy,
    env: { PATH: process.env.PATH, DATABASE_URL: cluster.url, LOG_LEVEL: 'error', ...environment },
  });

/** Starts a service. @returns what is allowed and served once it listens, and how it ends when it is told to stop */
async function tryOut(environment: NodeJS.ProcessEnv) {
  const port = await freePort();
  const { said, interrupt } = start({ PORT: `${port}`, ...environment });
  await said(/Ctrl-C/);
  const get = (address: string, origin = '') =>
    fetch(`http://${address}:${port}/readyz`, { headers: { origin } }).catch(() => undefined);
  const served = [(await get('127.0.0.1'))?.status, (await get('127.0.0.2'))?.status];
  const address = served[0] ? '127.0.0.1' : '127.0.0.2';
  const allowed = ['http://localhost:4200', 'https://example.org'].map(async (origin) =>
    (await get(address, origin))!.headers.get('access-control-allow-origin'),
  );
  return { served, origins: await Promise.all(allowed), ...(await interrupt()), output: undefined };
}

test('listens on 127.0.0.1 for pages of localhost, whatever a shell or another server has set', async () => {
  const file = join(directory, 'migration-url');
  await writeFile(file, cluster.url);
  expect(await tryOut({ HOST: 'x86_64-conda-linux-gnu', DATABASE_MIGRATION_URL_FILE: file })).toEqual({
    served: [200, undefined],
    origins: ['http://localhost:4200', null],
    code: 0,
    errors: 'HOST is x86_64-conda-linux-gnu, which is not an IP address: the services listen on 127.0.0.1.\n',
  });
});

test('listens on the IP address in HOST, for the pages that the mode in NODE_ENV allows', async () => {
  const served = [undefined, 200];
  const environment = { HOST: '127.0.0.2', NODE_ENV: 'development' };
  expect(await tryOut(environment)).toEqual({ served, origins: ['*', '*'], code: 0, errors: '' });
  const production = await tryOut({ ...environment, NODE_ENV: 'production' });
  expect(production).toMatchObject({ served, origins: [null, null] });
});

test('starts nothing where it cannot listen, and names each port or address', async () => {
  const [taken, shared] = [await freePort(), await freePort()];
  const server = createServer().listen(taken, '127.0.0.1').unref();
  await once(server, 'listening');
  const isTaken = `Port ${taken}, where items would listen, is taken, by another program or an earlier start`;
  const ports = { ITEMS_PORT: `${taken}`, TODOS_PORT: `${shared}`, TUTORIALS_PORT: `${shared}` };
  const cannotStart = async (message: string, ...args: Parameters<typeof start>) =>
    expect(await start(...args).ended).toEqual({ code: 1, output: '', errors: `Cannot start: ${message}\n` });
  await cannotStart(
    `${isTaken}: ITEMS_PORT chooses another one.\n` +
      `Port ${shared} is that of todos and tutorials: TODOS_PORT or TUTORIALS_PORT chooses another one.`,
    ports,
    'items todos tutorials',
  );
  await cannotStart(`${isTaken}: PORT chooses another one.`, { PORT: `${taken}` });
  server.close();
  await cannotStart('ITEMS_PORT must be a TCP port, 1 to 65535; it is "70000"', { ITEMS_PORT: '70000' }, '');
  const HOST = '192.0.2.1';
  await cannotStart(`HOST is ${HOST}, which is not an address of this machine.`, { HOST, PORT: `${shared}` });
  const url = `postgres://postgres@127.0.0.1:${shared}/postgres`;
  const refusal = `The server at DATABASE_URL refuses: connect ECONNREFUSED 127.0.0.1:${shared}`;
  await cannotStart(refusal, { DATABASE_URL: url, PORT: `${taken}` });
  const form = 'DATABASE_URL must be a URL such as postgres://USER:PASSWORD@HOST:PORT/DATABASE';
  await cannotStart(form, { DATABASE_URL: `"${url}"`, PORT: `${taken}` });
});

test('ends, and says why, when its PostgreSQL has ended', async () => {
  const { said, ended } = start({ PORT: `${await freePort()}`, DATABASE_URL: '', LOG_LEVEL: 'silent' });
  await said(/Ctrl-C/);
  const lock = await readFile(join(copy, '.data/postgres/data/postmaster.pid'), 'utf8');
  process.kill(parseInt(lock, 10), 'SIGKILL');
  expect(await ended).toMatchObject({
    code: 1,
    errors: 'PostgreSQL has ended, and the services are stopped with it.\n',
  });
});

test('restarts a service at each change of its sources, also by a file renamed into its place', async () => {
  const { said, interrupt } = start({ PORT: `${await freePort()}`, LOG_LEVEL: 'info' });
  const file = join(copy, 'libs/pagination/src/index.ts');
  const draft = join(copy, 'libs/pagination/src/draft');
  await Promise.all([said(/Server listening at/), said(/Ctrl-C/)]);
  for (let turn = 0; turn < 2; turn += 1) {
    await copyFile(file, draft);
    const restarted = said(/Server listening at/);
    await rename(draft, file);
    await restarted;
  }
  expect((await interrupt()).code).toBe(0);
});
