import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureDatabase, freePort, signalServer, startCluster } from '@rest-services/local-postgres';
import { startProcess } from '@rest-services/testing/process';
import { connectTo } from './clients/bulk.ts';
import type { Random } from './clients/random.ts';

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

/** Causes faults, as `random` decides, until the seconds have passed. @returns how many of each kind */
export async function causeFaults(random: Random, seconds: number, { database, databaseUrl, services }: Parts) {
  const end = performance.now() + seconds * 1_000;
  const counts: Record<string, number> = {};
  const freeze = async (ms: number, signal: (name: 'SIGSTOP' | 'SIGCONT') => unknown) => {
    await signal('SIGSTOP');
    await sleep(ms);
    await signal('SIGCONT');
  };
  const kinds: Record<string, (ms: number, service: Service) => Promise<unknown>> = {
    'database crash': () => database.crash(),
    'database freeze': (ms) => freeze(ms, database.signal),
    async 'service kill'(ms, service) {
      await service.kill();
      // Some are started at once, so that the new process meets what the old one left.
      await sleep(ms / 4);
      await service.start();
    },
    'service freeze': (ms, service) => freeze(ms, service.signal),
    // Without a server, there are none.
    'sessions end': () => endSessions(databaseUrl).catch(() => undefined),
  };

  async function runLane(own: Random, names: string[]) {
    for (;;) {
      await sleep(own.integer(200, 1_500));
      if (performance.now() > end) return;
      const kind = own.pick(names);
      counts[kind] = (counts[kind] ?? 0) + 1;
      await kinds[kind]!(own.integer(50, FREEZE_MS), own.pick(services));
    }
  }
  // Not every seed has every lane, because many faults at once leave few operations.
  const lanes = Object.entries(Object.groupBy(Object.keys(kinds), (kind) => kind.split(' ')[0]!));
  await Promise.all(lanes.filter(() => random.chance(0.8)).map(([, names]) => runLane(random.fork(), names!)));
  return counts;
}

/** Ends all sessions of the services, at any moment of their statements. */
async function endSessions(databaseUrl: string) {
  const client = await connectTo(databaseUrl);
  const others = 'from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  await client.query(`select pg_terminate_backend(pid) ${others}`);
  await client.end();
}
