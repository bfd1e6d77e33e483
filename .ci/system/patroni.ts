import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '@rest-services/local-postgres';
import pg from 'pg';
import { asUnprivileged, startProgram, temporaryFolder } from './program.ts';

const run = promisify(execFile);

/** The newest PostgreSQL of Debian's. */
const binaries = globSync('/usr/lib/postgresql/*/bin').sort().at(-1)!;

const environment = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' };

/** A Patroni and its PostgreSQL. */
export interface Member {
  name: string;
  /** Port of PostgreSQL. */
  port: number;
  /** Port of Patroni's REST API. */
  apiPort: number;
  /** Process of Patroni, unless the member is lost. */
  patroni?: ChildProcess;
  /** Processes that are stopped. */
  frozen: number[];
}

type ServerProgram = Awaited<ReturnType<typeof startProgram>> & { port: number };

interface Parts {
  members: Member[];
  /** Holds the data, the settings and the log of each member, under its name. */
  folder: string;
  password: string;
  etcd: ServerProgram;
  haproxy: ServerProgram;
  isSynchronous: boolean;
}

/**
 * Starts three members, their etcd, and an HAProxy that leads to the leader, all on free ports. Resolves when the standbys stream.
 * @param isSynchronous whether commits wait for a standby
 */
export async function startPatroni(isSynchronous: boolean) {
  const members: Member[] = [];
  for (const name of ['member1', 'member2', 'member3']) {
    members.push({ name, port: await freePort(), apiPort: await freePort(), frozen: [] });
  }
  const parts: Parts = {
    members,
    folder: await temporaryFolder('patroni'),
    password: randomBytes(18).toString('base64url'),
    etcd: await startEtcd(),
    haproxy: await startHaproxy(members),
    isSynchronous,
  };
  const cluster = new PatroniCluster(parts);
  try {
    for (const member of members) {
      await writeFile(join(parts.folder, `${member.name}.yml`), JSON.stringify(memberSettings(member, parts)));
      await cluster.start(member);
    }
    await cluster.streaming();
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** A cluster of Patroni. Its members are lost, frozen and restored by its methods. */
export class PatroniCluster {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Connection string with all members, for a client that finds the primary itself. */
  multiHostUrl(database: string) {
    const hosts = this.#parts.members.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return `${this.#url(hosts, database)}?target_session_attrs=read-write`;
  }

  /** Connection string of HAProxy. */
  haproxyUrl(database: string) {
    return this.#url(`127.0.0.1:${this.#parts.haproxy.port}`, database);
  }

  memberUrl({ port }: Member, database: string) {
    return this.#url(`127.0.0.1:${port}`, database);
  }

  #url(hosts: string, database: string) {
    return `postgres://postgres:${this.#parts.password}@${hosts}/${database}`;
  }

  /** Waits for a member, neither lost nor frozen, that holds the leader key and whose PostgreSQL is promoted. */
  leader() {
    return eventually(() => this.#findLeader());
  }

  async #findLeader() {
    const running = this.#running;
    const responses = await Promise.all(running.map(({ apiPort }) => getJson(apiPort, '/primary')));
    return running[responses.findIndex(({ status, body }) => status === 200 && body.role !== 'replica')];
  }

  /** The standby for which commits of the leader wait. */
  async synchronousStandby() {
    const { apiPort } = await this.leader();
    const { body } = await getJson(apiPort, '/cluster');
    const { name } = (body.members as { name: string; role: string }[]).find(({ role }) => role === 'sync_standby')!;
    return this.#parts.members.find((member) => member.name === name)!;
  }

  /** Waits until all other running members stream from the leader, in synchronous mode one of them as a synchronous standby. */
  async streaming() {
    const standbys = this.#running.length - 1;
    const synchronous = this.#parts.isSynchronous ? Math.min(1, standbys) : 0;
    await eventually(async () => {
      // A leader that was frozen takes itself for the leader for a moment.
      const leader = await this.#findLeader();
      if (!leader) return undefined;
      const { body } = await getJson(leader.apiPort, '/cluster');
      const chosen = (body.members as { role: string }[]).filter(({ role }) => role === 'sync_standby').length;
      const { rows } = await query<{ sync_state: string }>(
        this.memberUrl(leader, 'postgres'),
        `select sync_state from pg_stat_replication where state = 'streaming'`,
      );
      const waitedFor = rows.filter(({ sync_state }) => sync_state === 'sync').length;
      return rows.length === standbys && chosen === synchronous && waitedFor === synchronous ? leader : undefined;
    }).catch(async (error: unknown) => {
      const logs = this.#parts.members.map(({ name }) => readFile(join(this.#parts.folder, `${name}.log`), 'utf8'));
      const ends = (await Promise.all(logs)).map((log) => log.slice(-LOG_END_LENGTH));
      throw new Error(`The standbys do not stream. Logs of the members:\n${ends.join('\n\n')}`, { cause: error });
    });
  }

  /** Turns Patroni's synchronous mode on or off, and waits until the leader has it. */
  async setSynchronous(isSynchronous: boolean) {
    const { apiPort } = await this.leader();
    const body = JSON.stringify({ synchronous_mode: isSynchronous });
    const response = await fetch(`http://127.0.0.1:${apiPort}/config`, { method: 'PATCH', body });
    if (!response.ok) throw new Error(`Patroni responds ${response.status} to PATCH /config`);
    this.#parts.isSynchronous = isSynchronous;
    await this.streaming();
  }

  /** Makes a standby the leader, as an operator does, and waits for it. @returns the new leader */
  async switchover() {
    const old = await this.leader();
    const settings = join(this.#parts.folder, `${old.name}.yml`);
    await run('patronictl', ['-c', settings, 'switchover', '--force'], { env: environment });
    return this.leader();
  }

  /** Kills all processes of the leader at once. @returns the member that was the leader */
  async loseLeader() {
    const member = await this.leader();
    await this.lose(member);
    return member;
  }

  /** Kills all processes of a member at once, as the loss of its machine would. Its sockets are closed, and its data is kept. */
  async lose(member: Member) {
    await this.freeze(member);
    const patroni = member.patroni!;
    delete member.patroni;
    member.frozen.splice(0).forEach((pid) => signal(pid, 'SIGKILL'));
    if (isRunning(patroni)) await once(patroni, 'exit');
  }

  /** Stops all processes of a member, as a hypervisor that pauses its machine. Its sockets stay open, and nothing is sent on them. */
  async freeze(member: Member) {
    const postmaster = await this.#postmaster(member);
    const freeze = (pids: number[]) => {
      pids.forEach((pid) => signal(pid, 'SIGSTOP'));
      member.frozen.push(...pids);
    };
    const patroni = member.patroni!;
    // First the parents, which start processes and see their children end.
    freeze([...(isRunning(patroni) ? [patroni.pid!] : []), ...postmaster]);
    for (const pid of postmaster) freeze(await childrenOf(pid));
  }

  /** Lets a frozen member continue in its former role, and waits until it streams. */
  async thaw(member: Member) {
    member.frozen.splice(0).forEach((pid) => signal(pid, 'SIGCONT'));
    await this.streaming();
  }

  /** Stops the processes of the leader that send its log, as a network that is slow on that way alone. */
  async stopReplication(leader: Member) {
    const { rows } = await query<{ pid: number }>(
      this.memberUrl(leader, 'postgres'),
      'select pid from pg_stat_replication',
    );
    rows.forEach(({ pid }) => signal(pid, 'SIGSTOP'));
  }

  /** Process of the running PostgreSQL, if there is one. The file may name a process that is lost, whose number another one has. */
  async #postmaster({ name }: Member) {
    try {
      const directory = join(this.#parts.folder, name);
      const pid = parseInt(await readFile(join(directory, 'postmaster.pid'), 'utf8'), 10);
      return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes(directory) ? [pid] : [];
    } catch {
      return [];
    }
  }

  /** Starts a lost member again on the data that it had, and waits until it streams. */
  async restore(member: Member) {
    await this.start(member);
    await this.streaming();
  }

  async start(member: Member) {
    const log = await open(join(this.#parts.folder, `${member.name}.log`), 'a');
    member.patroni = spawn('patroni', [join(this.#parts.folder, `${member.name}.yml`)], {
      cwd: this.#parts.folder,
      env: environment,
      stdio: ['ignore', log.fd, log.fd],
      ...asUnprivileged,
    });
    await log.close();
  }

  async stop() {
    await Promise.all(this.#parts.members.filter(({ patroni }) => patroni).map((member) => this.lose(member)));
    await Promise.all([this.#parts.haproxy.stop(), this.#parts.etcd.stop()]);
    await rm(this.#parts.folder, { recursive: true, force: true });
  }

  get #running() {
    return this.#parts.members.filter(({ patroni, frozen }) => patroni && frozen.length === 0);
  }
}

async function startEtcd(): Promise<ServerProgram> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const peerUrl = `http://127.0.0.1:${await freePort()}`;
  const settings = {
    'data-dir': 'FOLDER/data',
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `default=${peerUrl}`,
    logger: 'zap',
    'log-level': 'error',
    'enable-v2': true,
    // It is killed, and its machine is not.
    'unsafe-no-fsync': true,
  };
  const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  return { port, ...(await startProgram('etcd', args, {}, port)) };
}

/** Sessions at a member that is not the leader any more are closed. Otherwise they would wait for a machine that is lost. */
async function startHaproxy(members: Member[]): Promise<ServerProgram> {
  const port = await freePort();
  const cfg = `
global
  maxconn 500
defaults
  mode tcp
  retries 0
  timeout connect 1s
  timeout client 1h
  timeout server 1h
  timeout check 1s
listen leader
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  default-server check inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${members.map((member) => `  server ${member.name} 127.0.0.1:${member.port} port ${member.apiPort}`).join('\n')}
`;
  return { port, ...(await startProgram('haproxy', ['-db', '-q', '-f', 'FOLDER/cfg'], { cfg }, port)) };
}

function memberSettings(member: Member, { folder, password, etcd, isSynchronous }: Parts) {
  const address = `127.0.0.1:${member.port}`;
  const apiAddress = `127.0.0.1:${member.apiPort}`;
  return {
    scope: 'items',
    name: member.name,
    restapi: { listen: apiAddress, connect_address: apiAddress },
    // Not `etcd3`, by which a leader that was frozen overwrites the key of the new one before Patroni 3.0.3.
    etcd: { hosts: [`127.0.0.1:${etcd.port}`] },
    bootstrap: {
      dcs: {
        // A lost leader is replaced after this time. Newer releases of Patroni take no shorter one.
        ttl: 20,
        loop_wait: 1,
        retry_timeout: 9,
        // Otherwise the primary steps down while etcd does not respond.
        failsafe_mode: true,
        synchronous_mode: isSynchronous,
        postgresql: {
          use_pg_rewind: true,
          parameters: {
            // Otherwise commits wait for a minute for a synchronous standby whose machine is lost.
            wal_sender_timeout: '3s',
          },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
    },
    postgresql: {
      listen: address,
      connect_address: address,
      data_dir: join(folder, member.name),
      bin_dir: binaries,
      pgpass: join(folder, `${member.name}.pgpass`),
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
      authentication: { superuser: { username: 'postgres', password }, replication: { username: 'standby', password } },
      // fsync is off: processes that are killed lose nothing that they have written.
      parameters: { unix_socket_directories: '', fsync: 'off' },
    },
  };
}

/** Maximum length of a log in an error. */
const LOG_END_LENGTH = 10_000;

/** Delay between attempts. */
const POLL_MS = 20;

/** Time after which an attempt is given up: a leader is replaced after 20 s. */
const LIMIT_MS = 90_000;

/** Repeats an attempt until it returns a value. @throws Error of the last attempt */
async function eventually<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
      if (performance.now() > deadline) throw new Error('The cluster does not reach the expected state');
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await sleep(POLL_MS);
  }
}

/** @returns status 0 when nothing responds */
async function getJson(port: number, path: string) {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  } catch {
    return { status: 0, body: {} };
  }
}

export async function query<Row extends object>(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await client.query<Row>(statement);
  } finally {
    await client.end();
  }
}

const isRunning = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null;

async function childrenOf(pid: number) {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.split(' ').filter(Boolean).map(Number);
}

/** A process of PostgreSQL may have ended since. */
function signal(pid: number, name: NodeJS.Signals) {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
