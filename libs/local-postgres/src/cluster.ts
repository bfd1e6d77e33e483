import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { giveToServer, runProgram } from './binaries.ts';
import { commandOf } from './processes.ts';

/** A running PostgreSQL server. */
export interface Cluster {
  /** Connection string of its `postgres` database, for a superuser. */
  url: string;
  /** Process id of the postmaster. */
  pid: number;
  /** Resolves when the postmaster has ended. */
  ended(): Promise<void>;
  /** Stops the server, unless another process is using it through `startCluster` too. */
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** `false` turns fsync off: faster, and a crash of the machine loses the data. */
  durable: boolean;
  /** TCP port; a free one when omitted. A server that runs already keeps its own. */
  port?: number;
}

/** Advisory lock that each user of a cluster holds in shared mode. A user that gets it exclusively is the last one. */
const USERS_LOCK = 7_236_451;

const START_LIMIT_MS = 60_000;

/**
 * Starts the server whose files are in `directory`, creating them if they are not there. A server that already runs
 * there, because another process uses it or because its launcher was killed, is used instead; one that is still
 * recovering or shutting down is waited for.
 * @throws Error with one line that says what to do when no server accepts connections within a minute
 */
export async function startCluster(directory: string, options: ClusterOptions): Promise<Cluster> {
  await initialise(directory, options.durable);
  const deadline = Date.now() + START_LIMIT_MS;

  for (;;) {
    try {
      const { pid, port } = (await runningServer(directory)) ?? (await startServer(directory, options));
      const password = (await readFile(join(directory, 'data', 'password'), 'utf8')).trim();
      const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
      const user = openSession(url);
      await user.query('select pg_advisory_lock_shared($1)', [USERS_LOCK]);
      return { url, pid, ended: () => endOf(pid), stop: () => leave(directory, user) };
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (Date.now() > deadline) {
        const lock = join(directory, 'data', 'postmaster.pid');
        throw new Error(`PostgreSQL does not respond (${String(error)}). If none runs, delete ${lock}.`);
      }
      await sleep(100);
    }
  }
}

/** Whether the server is starting, recovering or stopping: in a moment it can be reached, or started. */
const isPassing = (error: unknown) =>
  ['ECONNREFUSED', 'ECONNRESET', '57P01', '57P03'].includes((error as { code?: string }).code ?? '') ||
  /Connection terminated|lock file .* already exists/.test((error as Error).message);

/**
 * Creates the files of a server in `directory`, unless they are there. They are made under another name first, so that a
 * launcher killed in the middle leaves nothing half made.
 */
async function initialise(directory: string, durable: boolean) {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await giveToServer(directory);
  const data = join(directory, 'data');
  if (existsSync(data)) return;
  const draft = await mkdtemp(join(directory, 'initdb-'));
  try {
    await writeFile(join(draft, 'password'), `${randomBytes(18).toString('base64url')}\n`, { mode: 0o600 });
    await Promise.all([draft, join(draft, 'password')].map(giveToServer));
    await runProgram('initdb', draft, (path) => [
      ...[`--pgdata=${path}/data`, `--pwfile=${path}/password`, '--username=postgres', '--auth=scram-sha-256'],
      ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      '--no-instructions',
      // By which pg_trgm tells letters from other characters.
      `--lc-ctype=${process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8'}`,
      ...(durable ? [] : ['--no-sync']),
    ]);
    await rename(join(draft, 'password'), join(draft, 'data', 'password'));
    await rename(join(draft, 'data'), data);
  } catch (error) {
    if (!existsSync(data)) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Starts a server on the files in `directory`. @throws Error with the server's log when it does not start */
async function startServer(directory: string, { durable, port }: ClusterOptions) {
  const flags = [
    ...[`port=${port ?? (await freePort())}`, 'listen_addresses=127.0.0.1', "unix_socket_directories=''"],
    ...(durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']),
  ];
  const log = join(directory, 'log');
  await rm(log, { force: true });
  const failure = await runProgram('pg_ctl', directory, (path) => [
    ...['start', '--wait', '--silent', `--pgdata=${path}/data`, `--log=${path}/log`],
    `--options=${flags.map((flag) => `-c ${flag}`).join(' ')}`,
  ]).catch((error: unknown) => error);
  // Another process may have started it in the same moment, in which case ours gave way.
  const server = await runningServer(directory);
  if (server) return server;
  const lines = await readFile(log, 'utf8').catch(() => '');
  const reasons = Array.from(lines.matchAll(/(?:FATAL|DETAIL): +(.*)/g), ([, reason]) => reason);
  const advice = lines.includes('incompatible with server')
    ? ` To start afresh, delete ${directory}, or move it away.`
    : '';
  throw new Error(`PostgreSQL does not start: ${reasons.join(': ') || String(failure)}${advice}`, { cause: failure });
}

/** The server that runs in `directory`, ready or not; `undefined` when none does. */
async function runningServer(directory: string) {
  const lock = join(directory, 'data', 'postmaster.pid');
  const lines = (await readFile(lock, 'utf8').catch(() => '')).split('\n');
  const server = { pid: Number(lines[0]), port: Number(lines[3]) };
  const command = await commandOf(server.pid);
  if (/(^|\/)postgres$/.test(command)) return server;
  // After a crash of the machine, another process may have its id. PostgreSQL itself ignores the file only if none has it.
  if (command !== '') await rm(lock, { force: true });
  return undefined;
}

/** Opens a session of a server of this module, which does not keep this process from ending. */
function openSession(connectionString: string) {
  // Not with what PGSSLMODE or PGOPTIONS in the environment say, which is meant for other servers.
  const settings = { connectionString, ssl: false, options: '', connectionTimeoutMillis: 5_000 };
  const pool = new pg.Pool({ ...settings, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
  // Without a listener, the end of the server would end the process.
  return pool.on('error', () => undefined);
}

async function endOf(pid: number) {
  do await sleep(500, undefined, { ref: false });
  while ((await commandOf(pid)) !== '');
}

async function leave(directory: string, user: pg.Pool) {
  try {
    await user.query('select pg_advisory_unlock_shared($1)', [USERS_LOCK]);
    const { rows } = await user.query<{ last: boolean }>('select pg_try_advisory_lock($1) as last', [USERS_LOCK]);
    // Holds the lock until the server has stopped: a new user waits for it, is disconnected, and restarts the server.
    if (rows[0]?.last)
      await runProgram('pg_ctl', directory, (path) => ['stop', '--wait', '--silent', `--pgdata=${path}/data`]);
  } catch {
    // The connection is gone, and with it the server that it led to.
  } finally {
    await user.end().catch(() => undefined);
  }
}

/**
 * A TCP port of 127.0.0.1 that nothing listens on. It is none of those that Linux gives to outgoing connections (from 32768 on):
 * one of them could take it before its server listens, or while the server restarts.
 */
export async function freePort() {
  for (;;) {
    const server = createServer().listen(randomInt(10_000, 32_768), '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue;
      throw error;
    }
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return port;
  }
}
