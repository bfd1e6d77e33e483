import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureDatabase, freePort, signalServer, startCluster, withClient } from '@rest-services/local-postgres';
import { startProcess } from '@rest-services/testing';
import type { Random } from './clients/random.ts';

/** Time in which faults begin. */
const FAULTS_MS = 6_000;

/** Maximum time for which a process is stopped, or away. */
const FREEZE_MS = 2_000;

/** Maximum time in which a process starts, on a database that may be away. */
const START_MS = 60_000;

/** Few enough connections that writes share statements, and meet rows that others have locked. */
const DATABASE_POOL_MAX = '3';

/** The items service that `nx build items` makes. */
export const MAIN = join(import.meta.dirname, '../../../apps/items/dist/main.js');

type Service = Awaited<ReturnType<typeof startService>>;

/** Starts a process of the items service, which keeps its port when it is started again. */
export async function startService(main: string, databaseUrl: string) {
  const port = await freePort();
  let instance: ReturnType<typeof startProcess>;

  /** Starts another process when one ends because the database can't be reached. @throws Error after a minute */
  async function start() {
    const deadline = Date.now() + START_MS;
    for (;;) {
      instance = startProcess(main, { DATABASE_URL: databaseUrl, PORT: `${port}`, DATABASE_POOL_MAX });
      try {
        return await instance.listening();
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }

  async function kill() {
    instance.child.kill('SIGKILL');
    await instance.ended;
  }

  return { url: await start(), start, kill, signal: (name: NodeJS.Signals) => instance.child.kill(name) };
}

/** Starts a PostgreSQL server that is killed and frozen: a commit is on its disk. */
export async function startDatabase() {
  const directory = await mkdtemp(join(tmpdir(), 'history-'));
  const port = await freePort();
  const open = () => startCluster(directory, { durable: true, port });
  let cluster = await open();
  return {
    create: (name: string) => ensureDatabase(cluster.url, name),
    /** Ends all of its processes at once, and starts it again: it recovers from its log. */
    async crash() {
      process.kill(cluster.pid, 'SIGQUIT');
      cluster = await open();
    },
    signal: (name: 'SIGSTOP' | 'SIGCONT') => signalServer(cluster.pid, name),
    async stop() {
      await cluster.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Parts {
  database: Awaited<ReturnType<typeof startDatabase>>;
  databaseUrl: string;
  services: Service[];
}

/** A fault that lasts for a time, of a service if not of the database. */
type Fault = (ms: number, service: Service) => Promise<unknown>;

/** Causes faults, as `random` decides. */
export async function causeFaults(random: Random, { database, databaseUrl, services }: Parts) {
  const end = performance.now() + FAULTS_MS;
  const freeze = async (ms: number, signal: (name: 'SIGSTOP' | 'SIGCONT') => unknown) => {
    await signal('SIGSTOP');
    await sleep(ms);
    await signal('SIGCONT');
  };
  const restart: Fault = async (ms, service) => {
    await service.kill();
    // Some are started at once, so that the new process meets what the old one left.
    await sleep(ms / 4);
    await service.start();
  };
  const others = 'from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  const endSessions = () =>
    withClient(databaseUrl, (client) => client.query(`select pg_terminate_backend(pid) ${others}`));
  const lanes: Fault[][] = [
    [() => database.crash(), (ms) => freeze(ms, database.signal)],
    [restart, (ms, service) => freeze(ms, service.signal)],
    // Without a server, there are none.
    [() => endSessions().catch(() => undefined)],
  ];

  async function runLane(own: Random, faults: Fault[]) {
    for (;;) {
      await sleep(own.integer(200, 1_500));
      if (performance.now() > end) return;
      await own.pick(faults)(own.integer(50, FREEZE_MS), own.pick(services));
    }
  }
  // Not every seed has every lane, because many faults at once leave few operations.
  await Promise.all(lanes.filter(() => random.chance(0.8)).map((faults) => runLane(random.fork(), faults)));
}
