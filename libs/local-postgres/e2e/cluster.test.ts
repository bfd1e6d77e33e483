import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startCluster, withClient, type Cluster } from '../src/index.ts';

let home: string;
let directory: string;
const started: Cluster[] = [];
let other: ChildProcess | undefined;

// Below a folder that only its owner may enter, as a clone in root's home is.
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'cluster-test-'));
  directory = join(home, 'clone', '.data', 'postgres');
  await mkdir(join(home, 'clone'));
  expect((await stat(home)).mode & 0o777).toBe(0o700);
});
afterEach(async () => {
  other?.kill();
  for (const cluster of started.splice(0)) await cluster.stop();
  await rm(home, { recursive: true, force: true });
});

async function start() {
  const cluster = await startCluster(directory, { durable: true });
  started.push(cluster);
  return cluster;
}

const query = (url: string, statement: string) =>
  withClient(url, async (client) => (await client.query<Record<string, unknown>>(statement)).rows);

const isRunning = (url: string) =>
  query(url, 'select').then(
    () => true,
    (error: unknown) => (error as NodeJS.ErrnoException).code !== 'ECONNREFUSED',
  );

describe('startCluster', () => {
  test('starts a durable PostgreSQL whose data survive a restart', async () => {
    const before = await start();
    const settings = ['fsync', 'synchronous_commit', 'full_page_writes'];
    for (const name of settings) expect(await query(before.url, `show ${name}`)).toEqual([{ [name]: 'on' }]);
    await query(before.url, 'create table t as select 7 as n');
    await before.stop();
    expect(await isRunning(before.url)).toBe(false);
    expect(await query((await start()).url, 'select n from t')).toEqual([{ n: 7 }]);
  });

  test('is shared by those who start it at the same moment, and stops with the last of them', async () => {
    const users = await Promise.all([start(), start(), start()]);
    const [{ pid }] = users;
    expect(users.map((user) => user.pid)).toEqual([pid, pid, pid]);
    await users[0].stop();
    await users[1].stop();
    expect(await query(users[2].url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await users[2].stop();
    expect(await isRunning(users[0].url)).toBe(false);
  });

  test('uses a server that its launcher has left running, and stops it in the end', async () => {
    const script = `
      import { startCluster } from ${JSON.stringify(join(import.meta.dirname, '../src/index.ts'))};
      const { pid } = await startCluster(${JSON.stringify(directory)}, { durable: true });
      process.send(pid, () => process.kill(process.pid, 'SIGKILL'));`;
    const execArgv = ['--input-type=module', '--eval', script];
    const launcher = fork('-', { execArgv, env: { PATH: process.env.PATH } });
    const [pid] = (await once(launcher, 'message')) as [number];
    if (launcher.signalCode === null) await once(launcher, 'exit');

    const cluster = await start();
    expect(cluster.pid).toBe(pid);
    // The server takes a moment to see that the launcher has gone, and would not be left by its last user until then.
    const users = () => query(cluster.url, `select from pg_locks where locktype = 'advisory'`);
    while ((await users()).length > 1) expect(launcher.signalCode).toBe('SIGKILL');
    await cluster.stop();
    expect(await isRunning(cluster.url)).toBe(false);
  });

  test('waits for a server that is shutting down or recovering', async () => {
    for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
      const first = await start();
      await query(first.url, 'create table if not exists t as select 1 as n');
      process.kill(first.pid, signal);
      const second = await start();
      expect(await query(second.url, 'select n from t')).toEqual([{ n: 1 }]);
      await second.stop();
    }
  });

  test('starts where a crash has left the id of a process that is not PostgreSQL', async () => {
    const first = await start();
    const lock = join(directory, 'data', 'postmaster.pid');
    const lines = (await readFile(lock, 'utf8')).split('\n');
    await first.stop();
    // Root's servers run as another user, to whom a process of root does not count.
    other = spawn('sleep', ['600'], { cwd: '/', ...(process.getuid?.() === 0 ? { uid: 65_534 } : {}) });
    await writeFile(lock, [`${other.pid}`, ...lines.slice(1)].join('\n'));
    expect((await start()).pid).not.toBe(other.pid);
  });

  test('says what to do with the data of another major version', async () => {
    await (await start()).stop();
    await writeFile(join(directory, 'data', 'PG_VERSION'), '17\n');
    const line =
      /^PostgreSQL does not start: .+ by PostgreSQL version 17, which .+\. To start afresh, delete \S+, or move it away\.$/;
    await expect(start()).rejects.toThrow(line);
  });

  test('is reached with a password, and only on this machine', async () => {
    const { url } = await start();
    const stranger = new URL(url);
    stranger.password = 'guess';
    await expect(query(stranger.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    expect(await query(url, 'show listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
  });
});
