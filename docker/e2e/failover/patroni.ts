import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, signalServer } from '@rest-services/local-postgres';
import { closedAtEnd } from '@rest-services/testing';
import { parse } from 'yaml';
import { block, install, startProgram } from '../program.ts';

install('etcd-server', 'haproxy', 'patroni', 'postgresql');

/** Password of the superuser and of the standbys. The servers listen on 127.0.0.1 while a test runs. */
const PASSWORD = 'secret';

const POLL_MS = 20;

/** Time in which the cluster reaches an expected state: a leader is replaced after 20 s. */
const LIMIT_MS = 90_000;

/** A Patroni, and its PostgreSQL in `folder`. */
export type Member = Awaited<ReturnType<typeof startMember>>;

/**
 * Starts three members, their etcd, and an HAProxy that leads to the leader, with the settings of docker/high-availability.md.
 * Resolves when one of the standbys is synchronous.
 */
export async function startPatroni() {
  const members: Member[] = [];
  // A member that is lost has no processes.
  const stop = closedAtEnd(() => Promise.allSettled(members.map(lose)));
  const etcdPort = await startEtcd();
  for (const name of ['member1', 'member2', 'member3']) members.push(await startMember(name, etcdPort));
  const haproxyPort = await startHaproxy(members);
  // A member that is silent or lost was sent a signal.
  const running = () => members.filter(({ patroni }) => !patroni.killed);

  /** Waits for a member that holds the leader key and whose PostgreSQL is promoted. */
  const leader = () =>
    eventually(async () => {
      for (const member of running()) {
        const { role } = await getJson(member, 'primary');
        if (role && role !== 'replica') return member;
      }
      return undefined;
    });

  /** Waits for a running standby that commits wait for. */
  const synchronousStandby = () =>
    eventually(async () => {
      const { members: all = [] } = await getJson(await leader(), 'cluster');
      const chosen = all.find(({ role }) => role === 'sync_standby')?.name;
      return running().find(({ name }) => name === chosen);
    });

  await synchronousStandby();
  return {
    leader,
    synchronousStandby,
    haproxyUrl: (database: string) => urlOf(haproxyPort, database),
    leaderUrl: async (database: string) => urlOf((await leader()).port, database),

    /** Makes a standby the leader, as an operator does. */
    switchover: async ({ name, apiPort }: Member) => {
      const body = JSON.stringify({ leader: name });
      const response = await fetch(`http://127.0.0.1:${apiPort}/switchover`, { method: 'POST', body });
      if (!response.ok) throw new Error(`Patroni responds ${response.status}: ${await response.text()}`);
    },

    /** Stops all processes of a member, as a hypervisor that pauses its machine. Its sockets stay open, and nothing is sent on them. */
    silence: async (member: Member) => {
      member.patroni.kill('SIGSTOP');
      await signalServer(await postmasterOf(member), 'SIGSTOP');
    },

    lose,
    stop,
  };
}

/** Kills all processes of a member at once, as the loss of its machine would. Its sockets are closed. */
async function lose(member: Member) {
  member.patroni.kill('SIGKILL');
  const [postmaster, ...children] = await signalServer(await postmasterOf(member), 'SIGSTOP');
  // They must not see the postmaster's death: a commit that waits for the standby would become visible to queries.
  for (const pid of [...children, postmaster!]) process.kill(pid, 'SIGKILL');
}

/** Process id of the PostgreSQL of a member, which leads its others. */
const postmasterOf = async ({ folder }: { folder: string }) =>
  parseInt(await readFile(join(folder, 'data/postmaster.pid'), 'utf8'), 10);

const urlOf = (port: number, database: string) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`;

async function startEtcd() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = [
    '--data-dir=FOLDER/data',
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    // It has no peers.
    '--listen-peer-urls=http://127.0.0.1:0',
    '--logger=zap',
    '--log-level=error',
    '--enable-v2',
    '--unsafe-no-fsync',
  ];
  await startProgram('etcd', args, {}, port);
  return port;
}

/** The configuration of docker/high-availability.md, with the addresses of these members. */
async function startHaproxy(members: Member[]) {
  const port = await freePort();
  const servers = members.map((member) => `server ${member.name} 127.0.0.1:${member.port} port ${member.apiPort}`);
  const cfg = block('high-availability.md', 'haproxy\n')
    .replace(/^listen .*$/m, `$&\n  bind 127.0.0.1:${port}`)
    .replace(/^ *server a .*$/m, servers.join('\n'));
  await startProgram('haproxy', ['-db', '-q', '-n', '500', '-f', 'FOLDER/cfg'], { cfg }, port);
  return port;
}

async function startMember(name: string, etcdPort: number) {
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
      data_dir: 'FOLDER/data',
      bin_dir: globSync('/usr/lib/postgresql/*/bin').sort().at(-1)!,
      pgpass: 'FOLDER/pgpass',
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
      authentication: {
        superuser: { username: 'postgres', password: PASSWORD },
        replication: { username: 'standby', password: PASSWORD },
      },
      // fsync is off: processes that are killed lose nothing that they have written.
      parameters: { unix_socket_directories: '', fsync: 'off', log_min_messages: 'panic' },
    },
  };
  const cfg = JSON.stringify(settings);
  const { child: patroni, folder } = await startProgram('patroni', ['FOLDER/cfg'], { cfg }, apiPort);
  return { name, port, apiPort, folder, patroni };
}

/** Repeats an attempt until it returns something. */
async function eventually<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  const deadline = performance.now() + LIMIT_MS;
  while (performance.now() < deadline) {
    const result = await attempt().catch(() => undefined);
    if (result) return result;
    await sleep(POLL_MS);
  }
  throw new Error(`The cluster is not as expected: ${attempt.toString()}`);
}

/** @returns nothing when the path has another status than 200 */
async function getJson({ apiPort }: { apiPort: number }, path: string) {
  const response = await fetch(`http://127.0.0.1:${apiPort}/${path}`).catch(() => undefined);
  const body = response?.ok ? await response.json() : {};
  return body as { role?: string; members?: { name: string; role: string }[] };
}
