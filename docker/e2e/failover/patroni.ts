import { spawn, type ChildProcess } from 'node:child_process';
import { globSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, signalServer } from '@rest-services/local-postgres';
import { openTestConnection } from '@rest-services/testing';
import { sql } from 'kysely';
import { parse } from 'yaml';
import { block } from '../block.ts';
import { asUnprivileged, install, startProgram, temporaryFolder } from '../program.ts';

install('etcd-server', 'haproxy', 'patroni', 'postgresql');

/** Password of the superuser and of the standbys. The servers listen on 127.0.0.1 while a test runs. */
const PASSWORD = 'secret';

const POLL_MS = 20;

/** Time in which the cluster reaches an expected state: a leader is replaced after 20 s. */
const LIMIT_MS = 90_000;

/** A Patroni and its PostgreSQL. */
export interface Member {
  name: string;
  server: { url: string; directory: string; port: number };
  /** Port of Patroni's REST API. */
  apiPort: number;
  patroni: ChildProcess;
  /** Whether it can respond: neither frozen nor lost. */
  isRunning: boolean;
}

/**
 * Starts three members, their etcd, and an HAProxy that leads to the leader, with the settings of docker/high-availability.md.
 * Resolves when the standbys stream, one of them as a synchronous standby.
 */
export async function startPatroni() {
  const folder = await temporaryFolder('patroni');
  const etcd = await startEtcd();
  const members: Member[] = [];
  for (const name of ['member1', 'member2', 'member3']) members.push(await startMember(name, folder, etcd.port));
  const haproxy = await startHaproxy(members);
  const running = () => members.filter(({ isRunning }) => isRunning);

  /** Waits for a member that holds the leader key and whose PostgreSQL is promoted. */
  const leader = () =>
    eventually('a leader', async () => {
      for (const member of running()) {
        const { role } = await getJson(member, 'primary');
        if (role && role !== 'replica') return member;
      }
      return undefined;
    });

  /** Waits until all other running members stream from the leader. @returns the standby that commits wait for */
  const streaming = () =>
    eventually('standbys that stream', async () => {
      const { server, apiPort } = await leader();
      if ((await streamingFrom(server.url)) !== running().length - 1) return undefined;
      const { members: all = [] } = await getJson({ apiPort }, 'cluster');
      const chosen = all.find(({ role }) => role === 'sync_standby')?.name;
      return members.find(({ name }) => name === chosen);
    });

  const cluster = {
    leader,
    streaming,
    haproxyUrl: (database: string) => urlOf(`127.0.0.1:${haproxy.port}`, database),
    leaderUrl: async (database: string) => urlOf(`127.0.0.1:${(await leader()).server.port}`, database),

    /** Makes a standby the leader, as an operator does. */
    switchover: async ({ name, apiPort }: Member) => {
      const body = JSON.stringify({ leader: name });
      const response = await fetch(`http://127.0.0.1:${apiPort}/switchover`, { method: 'POST', body });
      if (!response.ok) throw new Error(`Patroni responds ${response.status}: ${await response.text()}`);
    },

    /** Stops all processes of a member, as a hypervisor that pauses its machine. Its sockets stay open, and nothing is sent on them. */
    freeze: async (member: Member) => {
      member.isRunning = false;
      member.patroni.kill('SIGSTOP');
      await signalServer(await postmasterOf(member), 'SIGSTOP');
    },

    /** Lets a frozen member continue in its former role, and waits until it streams. */
    thaw: async (member: Member) => {
      await signalServer(await postmasterOf(member), 'SIGCONT');
      member.patroni.kill('SIGCONT');
      member.isRunning = true;
      await streaming();
    },

    /** Kills all processes of a member at once, as the loss of its machine would. Its sockets are closed. */
    lose: async (member: Member) => {
      member.isRunning = false;
      member.patroni.kill('SIGKILL');
      const [postmaster, ...children] = await signalServer(await postmasterOf(member), 'SIGSTOP');
      // They must not see the postmaster's death: a commit that waits for the standby would become visible to queries.
      for (const pid of [...children, postmaster!]) process.kill(pid, 'SIGKILL');
    },

    stop: async () => {
      // A member that has not started, or is lost, has no processes.
      await Promise.allSettled(members.map(cluster.lose));
      await Promise.all([haproxy.stop(), etcd.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await streaming();
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** Process id of the PostgreSQL of a member, which leads its others. */
async function postmasterOf({ server }: Member) {
  return parseInt(await readFile(join(server.directory, 'data', 'postmaster.pid'), 'utf8'), 10);
}

/** Number of standbys that stream from a server. */
async function streamingFrom(url: string) {
  const db = openTestConnection<unknown>(url);
  try {
    return (await sql`select from pg_stat_replication where state = 'streaming'`.execute(db)).rows.length;
  } finally {
    await db.destroy();
  }
}

const urlOf = (hosts: string, database: string) => `postgres://postgres:${PASSWORD}@${hosts}/${database}`;

async function startEtcd() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const peerUrl = `http://127.0.0.1:${await freePort()}`;
  const args = [
    '--data-dir=FOLDER/data',
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--logger=zap',
    '--log-level=error',
    '--enable-v2',
    '--unsafe-no-fsync',
  ];
  return { port, ...(await startProgram('etcd', args, {}, port)) };
}

/** The configuration of docker/high-availability.md, with the addresses of these members. */
async function startHaproxy(members: Member[]) {
  const port = await freePort();
  const servers = members.map(({ name, server, apiPort }) => `server ${name} 127.0.0.1:${server.port} port ${apiPort}`);
  const cfg = block('high-availability.md', 'haproxy\n')
    .replace(/^listen .*$/m, `$&\n  bind 127.0.0.1:${port}`)
    .replace(/^ *server a .*$/m, servers.join('\n'));
  return { port, ...(await startProgram('haproxy', ['-db', '-q', '-n', '500', '-f', 'FOLDER/cfg'], { cfg }, port)) };
}

async function startMember(name: string, folder: string, etcdPort: number): Promise<Member> {
  const directory = join(folder, name);
  const [port, apiPort] = [await freePort(), await freePort()];
  const [address, apiAddress] = [`127.0.0.1:${port}`, `127.0.0.1:${apiPort}`];
  const settings = {
    scope: 'items',
    name,
    log: { level: 'ERROR' },
    restapi: { listen: apiAddress, connect_address: apiAddress },
    etcd: { hosts: [`127.0.0.1:${etcdPort}`] },
    bootstrap: {
      dcs: parse(block('high-availability.md', 'yaml\nttl')) as object,
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
    },
    postgresql: {
      listen: address,
      connect_address: address,
      data_dir: join(directory, 'data'),
      bin_dir: globSync('/usr/lib/postgresql/*/bin').sort().at(-1)!,
      pgpass: `${directory}.pgpass`,
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
      authentication: {
        superuser: { username: 'postgres', password: PASSWORD },
        replication: { username: 'standby', password: PASSWORD },
      },
      // fsync is off: processes that are killed lose nothing that they have written.
      parameters: { unix_socket_directories: '', fsync: 'off', log_min_messages: 'panic' },
    },
  };
  await writeFile(`${directory}.yml`, JSON.stringify(settings));
  const patroni = spawn('patroni', [`${directory}.yml`], {
    cwd: folder,
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' },
    stdio: ['ignore', 'ignore', 'inherit'],
    ...asUnprivileged,
  });
  const server = { url: urlOf(address, 'postgres'), directory, port };
  return { name, server, apiPort, patroni, isRunning: true };
}

/** Repeats an attempt until it returns something. */
async function eventually<Result>(what: string, attempt: () => Promise<Result | undefined>): Promise<Result> {
  const deadline = performance.now() + LIMIT_MS;
  let cause: unknown;
  while (performance.now() < deadline) {
    try {
      const result = await attempt();
      if (result) return result;
    } catch (error) {
      cause = error;
    }
    await sleep(POLL_MS);
  }
  throw new Error(`The cluster has not come to ${what}`, { cause });
}

/** @returns nothing when the path has another status than 200 */
async function getJson({ apiPort }: Pick<Member, 'apiPort'>, path: string) {
  const response = await fetch(`http://127.0.0.1:${apiPort}/${path}`).catch(() => undefined);
  const body = response?.ok ? await response.json() : {};
  return body as { role?: string; members?: { name: string; role: string }[] };
}
