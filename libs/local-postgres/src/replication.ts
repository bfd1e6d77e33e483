// Streaming replication out of initdb, pg_ctl and postgres, because the npm packages lack pg_basebackup.
import { chmod, copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { giveToServer } from './binaries.ts';
import { connect, freePort, initialise, runningServer, serverUrl, startServer, stopServer } from './cluster.ts';
import { processes, signalProcess, signalServer } from './processes.ts';

/** A server that can be a primary or a standby. It keeps its files and its port across restarts. */
export interface ReplicationServer {
  /** Connection string of its `postgres` database, for a superuser; all servers of a primary have its password. */
  url: string;
  directory: string;
  port: number;
}

/**
 * A standby retries every 100 ms to connect to a primary that restarts, not every 5 s. fsync is off: processes that are
 * killed lose nothing that they have written, a crash of the machine loses the data.
 */
const SETTINGS = {
  wal_level: 'replica',
  max_wal_senders: 10,
  hot_standby: 'on',
  wal_keep_size: '512MB',
  wal_retrieve_retry_interval: '100ms',
  fsync: 'off',
};

const STATE_LIMIT_MS = 60_000;
const STATE_REQUESTED_EVERY_MS = 20;

/** Creates a server in `directory`, unless its files are there, and starts it. */
export async function startPrimary(directory: string): Promise<ReplicationServer> {
  await initialise(directory, false);
  const port = await freePort();
  await startServer(directory, { ...SETTINGS, port });
  return { url: await serverUrl(directory, port), directory, port };
}

/**
 * Makes a standby from a base backup of the running primary, in place of the files in `directory`, and waits until it streams.
 * A promoted standby begins with empty `synchronous_standby_names`.
 * @param name its `application_name` at the primary, by which `setSynchronous` knows it
 * @param port a free one when omitted
 */
export async function startStandby(
  primary: ReplicationServer,
  directory: string,
  { name, port }: { name: string; port?: number },
): Promise<ReplicationServer> {
  const data = join(directory, 'data');
  await rm(data, { recursive: true, force: true });
  await makeFolder(directory);

  await withClient(primary, async (client) => {
    await client.query(`select pg_backup_start($1, fast => true)`, [name]);
    await copyFolder(join(primary.directory, 'data'), data);
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(wait_for_archive => false)',
    );
    await writeForServer(join(data, 'backup_label'), rows[0]!.labelfile);
  });
  const ownPort = port ?? (await freePort());
  const standby = { url: await serverUrl(directory, ownPort), directory, port: ownPort };
  await follow(standby, primary, { name });
  return standby;
}

/** Makes a standby a primary, and waits until it takes writes. The services' connections to the old primary stay there. */
export async function promote(standby: ReplicationServer): Promise<void> {
  await withClient(standby, (client) => client.query('select pg_promote()'));
}

/**
 * Starts a server that has been stopped as standby of a primary, and waits until it streams. The WAL of a primary that was
 * killed may have diverged: make a standby of its directory with `startStandby` instead.
 */
export async function follow(server: ReplicationServer, primary: ReplicationServer, { name }: { name: string }) {
  const { port, username, password } = new URL(primary.url);
  const conninfo = `host=127.0.0.1 port=${port} user=${username} password=${decodeURIComponent(password)} application_name=${name}`;
  const settings = { primary_conninfo: conninfo, recovery_target_timeline: 'latest', synchronous_standby_names: '' };
  // In place of what `alter system` has written on the primary.
  await writeForServer(
    join(server.directory, 'data', 'postgresql.auto.conf'),
    Object.entries(settings)
      .map(([key, value]) => `${key} = '${value}'\n`)
      .join(''),
  );
  await writeForServer(join(server.directory, 'data', 'standby.signal'), '');
  await start(server);
  await until(`${name} to stream`, async () => {
    const { rowCount } = await query(
      primary,
      `select from pg_stat_replication where application_name = ${pg.escapeLiteral(name)} and state = 'streaming'`,
    );
    return rowCount === 1;
  });
}

/**
 * Names the standby for which commits of the primary wait, and waits until they do; `''` names none.
 * @param commit `on` waits until the standby has written a commit, `remote_apply` until its queries see it
 */
export async function setSynchronous(
  primary: ReplicationServer,
  name: string,
  commit: 'on' | 'remote_apply' = 'on',
): Promise<void> {
  await withClient(primary, async (client) => {
    await client.query(`alter system set synchronous_standby_names = ${pg.escapeLiteral(name && `"${name}"`)}`);
    await client.query(`alter system set synchronous_commit = ${commit}`);
    await client.query('select pg_reload_conf()');
  });
  await until(`${name || 'no standby'} to be synchronous`, async () => {
    const { rows } = await query<{ named: string; commit: string; standbys: string[] }>(
      primary,
      `select current_setting('synchronous_standby_names') as named, current_setting('synchronous_commit') as commit,
        array(select application_name from pg_stat_replication where sync_state = 'sync') as standbys`,
    );
    const { named, commit: current, standbys } = rows[0]!;
    return current === commit && (name ? standbys.includes(name) : named === '');
  });
}

/** Starts a server that has been stopped or killed, in its role. */
export async function start(server: ReplicationServer): Promise<void> {
  await startServer(server.directory, { ...SETTINGS, port: server.port });
}

/** Stops a server; does nothing when it does not run. */
export async function stop(server: ReplicationServer, mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
  if (await runningServer(server.directory)) await stopServer(server.directory, mode);
}

/** Restarts a server as after a crash: sessions end at once, and it recovers. */
export async function restartImmediately(server: ReplicationServer): Promise<void> {
  await stop(server, 'immediate');
  await start(server);
}

/** Ends all processes of a server with SIGKILL, as when its machine is lost, and waits until they have gone. */
export async function kill(server: ReplicationServer): Promise<void> {
  // Its children must not see the postmaster's death: a commit that waits for the standby would become visible to queries.
  const [postmaster, ...children] = await signal(server, 'SIGSTOP');
  if (postmaster === undefined) return;
  [...children, postmaster].forEach((pid) => signalProcess(pid, 'SIGKILL'));
  await until('the processes to end', async () => {
    const running = await processes();
    return !running.some(({ pid, state }) => [postmaster, ...children].includes(pid) && !state.startsWith('Z'));
  });
  // pg_ctl takes a zombie for a running server, and waits in vain for the end of this file.
  await rm(join(server.directory, 'data', 'postmaster.pid'), { force: true });
}

/**
 * Stops all processes of a server, or lets them continue.
 * @returns their ids, the postmaster's first
 */
export async function signal(server: ReplicationServer, name: 'SIGSTOP' | 'SIGCONT'): Promise<number[]> {
  const running = await runningServer(server.directory);
  return running ? signalServer(running.pid, name) : [];
}

/**
 * Copies the files of a running server without its WAL, which the standby streams. Some of them disappear on the way: those are in
 * the WAL.
 */
async function copyFolder(from: string, to: string) {
  await makeFolder(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await (entry.name === 'pg_wal' ? makeFolder(target) : copyFolder(source, target));
    else if (!entry.name.startsWith('postmaster.')) await copyForServer(source, target);
  }
}

async function makeFolder(path: string) {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await giveToServer(path);
}

async function copyForServer(source: string, target: string) {
  try {
    await copyFile(source, target);
    await giveToServer(target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

async function writeForServer(path: string, content: string) {
  await writeFile(path, content);
  await chmod(path, 0o600);
  await giveToServer(path);
}

async function withClient<Result>(server: ReplicationServer, use: (client: pg.Client) => Promise<Result>) {
  const client = await connect(server.url);
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

const query = <Row extends pg.QueryResultRow>(server: ReplicationServer, statement: string) =>
  withClient(server, (client) => client.query<Row>(statement));

/** @throws Error when the condition does not hold within a minute */
async function until(event: string, condition: () => Promise<boolean>) {
  const deadline = Date.now() + STATE_LIMIT_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Waited a minute for ${event}`);
    await sleep(STATE_REQUESTED_EVERY_MS);
  }
}
