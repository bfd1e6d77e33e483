import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  checkSessions,
  Database,
  nameOf,
  type Migrations,
  type RowCounts,
  type Server,
  type ConnectionEvent,
} from '@rest-services/database';
import { errorCode } from '@rest-services/errors';
import closeWithGrace from 'close-with-grace';
import { checkDatabase, exitIfUnusable, migrateDatabase, recount } from './commands.ts';
import type { Service } from './create-service.ts';
import { foldInBackground } from './fold-row-counts.ts';
import { cut } from './http/connections/connections.ts';
import { addMetrics } from './observability/metrics.ts';
import { addHealth, type Lifecycle } from './observability/health.ts';
import { TaskFailures } from './observability/task-failures.ts';
import { connectionOf, isTraced, loadSettings, type Settings } from './settings.ts';
import { version } from './version.ts';

/** Timeout for the whole drain, after which the process ends. */
const STOP_LIMIT_MS = 10_000;

const POOL_END_LIMIT_MS = 500;

/** Timeout for the last export: in a drain, there are 2 s left after the requests. */
const LAST_EXPORT_LIMIT_MS = 1_000;

/** Maximum number of new connections that wait, as many as Linux allows. Otherwise, some clients retry after a second. */
const BACKLOG = 4_096;

/** Errors of a system without IPv6, on which `::` stands for all addresses of IPv4. */
const NO_IPV6 = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL']);

/** Signals that do not drain the service: of a crash, which Node.js handles, and the one that writes heap snapshots by its flags. */
const NOT_HANDLED = [
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGSEGV',
  'SIGUSR2',
] satisfies NodeJS.Signals[];

export interface ServiceDefinition<Tables> {
  /** Shown by PostgreSQL as the `application_name` of its sessions, and in the metrics. */
  name: string;
  defaultPort: number;
  migrations: Migrations;
  /** Tables whose rows the migrations count. */
  rowCounts?: RowCounts[];
  buildApp: (db: Database<Tables>, settings: Settings) => Promise<Service>;
}

/**
 * The life of a service process. `node main.js` waits for the database, migrates and serves until a signal stops it;
 * `node main.js migrate` only migrates; `node main.js recount` recounts the rows of the tables. Ends the process with exit code 1
 * and one line when it can't start.
 */
export async function runService<Tables>({ defaultPort, ...definition }: ServiceDefinition<Tables>) {
  const { name, migrations, rowCounts = [] } = definition;
  const settings = orExit(() => loadSettings(process.env, defaultPort));
  const command = process.argv[2];
  if (command !== undefined && !['migrate', 'recount'].includes(command)) {
    exit(`Unknown command "${command}". Use "migrate", "recount" or "health".`);
  }

  const assembled = assembleService(definition, settings).catch((error: unknown) => exit((error as Error).message));
  // Before the first await, because the first process of a container gets no signal that it does not handle.
  closeWithGrace({ delay: STOP_LIMIT_MS, logger: false, skip: NOT_HANDLED }, async ({ err, signal }) => {
    const { app, db, lifecycle, exportRest } = await assembled;
    if (err) app.log.fatal({ err }, 'ending after an unexpected error');
    // The exit code says that the job is not done. PostgreSQL rolls back its transaction.
    if (command === 'migrate' || command === 'recount') {
      if (signal) app.log.warn({ signal }, 'stopped before the database was up to date');
      process.exit(1);
    }
    if (signal) app.log.info({ signal }, 'draining');
    lifecycle.isDraining = true;
    if (signal) await sleep(settings.SHUTDOWN_DELAY_MS);
    await app.close();
    // Queries that still run belong to closed requests.
    await Promise.race([db.destroy(), sleep(POOL_END_LIMIT_MS)]);
    await exportRest();
    app.log.info('stopped');
  });

  const { app, db, lifecycle, exportRest, onConnectionError } = await assembled;
  // A second signal ends the process at once.
  process.once('exit', () => app.connections.forEach((_, socket) => cut(app, socket)));
  const common = { applicationName: name, onConnectionError };
  const serving = { ...common, ...connectionOf(settings, 'DATABASE_URL')! };
  const connection = { ...common, ...(connectionOf(settings, 'DATABASE_MIGRATION_URL') ?? serving) };
  if (command === 'recount') {
    await recount(app, connection, rowCounts);
    await exportRest();
    process.exit(0);
  }
  if (command === 'migrate') {
    await migrateDatabase(app, connection, migrations);
    await exportRest();
    process.exit(0);
  }
  if (settings.MIGRATE_ON_START) await migrateDatabase(app, connection, migrations);
  else await checkDatabase(app, serving);
  await exitIfUnusable(app, () => checkSessions(db));

  const listen = (host: string) => app.listen({ port: settings.PORT, host, backlog: BACKLOG });
  try {
    // Fastify listens at both addresses of localhost, with a second server that the drain does not know.
    const isLocalhost = settings.HOST === 'localhost';
    const host = isLocalhost ? (await lookup('localhost', { order: 'ipv4first' })).address : settings.HOST;
    await listen(host).catch((error: unknown) => {
      if (host !== '::' || !NO_IPV6.has(errorCode(error))) throw error;
      return listen('0.0.0.0');
    });
  } catch (error) {
    // A signal during the start closes the app, so that it can't listen.
    if (!lifecycle.isDraining) exit(cannotListen(error as NodeJS.ErrnoException, settings));
  }
}

/** The parts of a service, connected to each other and not started. */
export async function assembleService<Tables>(
  { name, migrations, rowCounts = [], buildApp }: Omit<ServiceDefinition<Tables>, 'defaultPort'>,
  settings: Settings,
) {
  const connection = {
    ...connectionOf(settings, 'DATABASE_URL')!,
    applicationName: name,
    pooler: settings.DATABASE_POOLER,
    readsFrom: connectionOf(settings, 'DATABASE_READ_URL'),
    onConnectionError,
  };
  const db = new Database<Tables>({
    ...connection,
    poolMax: settings.DATABASE_POOL_MAX,
    onKeysNotDeleted: (error) => taskFailures.report('delete_expired_keys', error),
  });
  const app = await buildApp(db, settings);
  const lifecycle: Lifecycle = { isDraining: false };
  // A dedicated connection: probes check whether the database can be reached, not whether there is much to do.
  const probing = new Database<Tables>({ ...connection, poolMax: 1 });
  app.addHook('onClose', () => probing.destroy());
  const health = addHealth(app, { db, probing, migrations, lifecycle });
  const taskFailures = new TaskFailures(app.log);
  const rowCountState = foldInBackground(app, db, rowCounts, (error) => taskFailures.report('fold_row_counts', error));
  addMetrics(app, { db, service: name, health, rowCounts: rowCountState, taskFailures });
  // Without traces, its code is not loaded, and a start takes as long as without it.
  const telemetry = isTraced(settings) ? await import('./observability/telemetry/telemetry.ts') : undefined;
  const shutDown = telemetry?.startExport({ service: name, version, log: app.log });
  // Compiles the shapes of all routes. Otherwise their errors would be taken for those of the address to listen on.
  await app.ready();
  return { app, db, lifecycle, exportRest, onConnectionError };

  async function exportRest() {
    if (shutDown) await Promise.race([shutDown(), sleep(LAST_EXPORT_LIMIT_MS)]);
  }

  function onConnectionError(error: Error, server: Server, event: ConnectionEvent) {
    app.log.warn({ err: error, server: nameOf(server) }, event);
  }
}

function cannotListen(error: NodeJS.ErrnoException, { HOST, PORT }: Settings) {
  if (error.code === 'EADDRINUSE')
    return `Port ${PORT} is taken on ${HOST}: another program listens there. Set PORT to a free one.`;
  return `Cannot listen on HOST ${HOST}, PORT ${PORT}, which must be an address of this machine and a port that is open to its user: ${error.message}`;
}

function orExit<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    return exit((error as Error).message);
  }
}

function exit(reason: string): never {
  console.error(reason);
  process.exit(1);
}
