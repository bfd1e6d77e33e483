import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  checkServer,
  codeOf,
  migrate,
  openDatabase,
  parseConnectionUrl,
  pendingMigrations,
  recountRows,
  type AppliedMigration,
  type DatabaseOptions,
  type Migrations,
  type RowCounts,
} from '@rest-services/database';
import { OverloadedError } from '@rest-services/errors';
import closeWithGrace from 'close-with-grace';
import type { Kysely } from 'kysely';
import type { Service } from './create-service.ts';
import { addMetrics } from './metrics.ts';
import { addProbes, type Lifecycle } from './probes.ts';
import { maintainRowCounts, reportRowCounts } from './row-counts.ts';
import { loadSettings, type Settings } from './settings.ts';

/** A database that is not up by then will not come: the orchestrator should see the process fail. */
const DATABASE_START_LIMIT_MS = 60_000;
const DATABASE_RETRY_MS = 500;

/** A process that has not stopped this long after its signal is ended. */
const STOP_LIMIT_MS = 10_000;

const POOL_END_LIMIT_MS = 500;

/** As many as Linux allows: of more new connections at once than that, some would be tried again only after a second. */
const BACKLOG = 4_096;

/** Signals that are left to Node.js: of a crash, or to end the process at once. */
const NOT_HANDLED = [
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGSEGV',
  'SIGUSR2',
] satisfies NodeJS.Signals[];

/**
 * System errors, and classes of SQLSTATEs, with which a database that is starting, restarting or full fails. Any other error, such
 * as a refused password or certificate, or an unknown database, would be the same in a moment.
 */
const NOT_UP_YET = /^(ECONN|EHOST|ENET|ENOTFOUND|EAI_AGAIN|ENOENT|EPIPE|ETIMEDOUT|08|40|53|55|57)/;

export interface ServiceDefinition<Tables> {
  /** Shown by PostgreSQL as the `application_name` of its sessions, and in the metrics. */
  name: string;
  defaultPort: number;
  migrations: Migrations;
  /** Tables whose rows the migrations count. */
  rowCounts?: RowCounts[];
  buildApp: (db: Kysely<Tables>, settings: Settings) => Promise<Service>;
}

/**
 * The life of a service process. `node main.js` waits for the database, migrates and serves until it is told to stop;
 * `node main.js migrate` only migrates; `node main.js recount` counts the rows of the service's tables anew. Ends the process with
 * exit code 1 and one line when it can't start.
 */
export async function runService<Tables>({ defaultPort, ...definition }: ServiceDefinition<Tables>) {
  const { name, migrations, rowCounts = [] } = definition;
  const settings = orExit(() => loadSettings(process.env, defaultPort));
  const command = process.argv[2];
  if (command !== undefined && !['migrate', 'recount'].includes(command)) {
    exit(
      `${command} is no command; there are migrate, which only migrates, recount, which counts rows anew, and health, which asks a running service`,
    );
  }

  const assembled = assembleService(definition, settings).catch((error: unknown) => exit((error as Error).message));
  // Before anything is waited for: as the first process of a container this one gets no signal that it does not handle.
  closeWithGrace({ delay: STOP_LIMIT_MS, logger: false, skip: NOT_HANDLED }, async ({ err, signal }) => {
    const { app, db, lifecycle } = await assembled;
    if (err) app.log.fatal({ err }, 'ending after an unexpected error');
    // Whoever waits for the job must not take it for done. PostgreSQL rolls back what it was at.
    if (command === 'migrate' || command === 'recount') {
      if (signal) app.log.warn({ signal }, 'stopped before the database was up to date');
      process.exit(1);
    }
    if (signal) app.log.info({ signal }, 'draining');
    lifecycle.isDraining = true;
    if (signal) await sleep(settings.SHUTDOWN_DELAY_MS);
    await app.close();
    // What it still does is for requests that were cut.
    await Promise.race([db.destroy(), sleep(POOL_END_LIMIT_MS)]);
    app.log.info('stopped');
  });

  const { app, lifecycle, onConnectionError } = await assembled;
  const onBlocked = (pids: number[]) =>
    app.log.warn({ pids }, 'the migration waits for other sessions of the database');
  const onApplied = ({ name, ms }: AppliedMigration) =>
    app.log.info({ migration: name, ms: Math.round(ms) }, 'Migration applied');
  const url = settings.DATABASE_MIGRATION_URL ?? settings.DATABASE_URL;
  const connection = { url, applicationName: name, onConnectionError };
  if (command === 'recount') {
    await recount(app, connection, rowCounts);
    process.exit(0);
  }
  if (command === 'migrate' || settings.MIGRATE_ON_START) {
    const checking = openDatabase({ ...connection, direct: false, poolMax: 1 });
    try {
      await whenUp(() => checkServer(checking), app);
      const pending = await whenUp(() => pendingMigrations(checking, migrations), app);
      await checking.destroy();
      if (pending.length > 0) await migrate({ ...connection, onBlocked, onApplied }, migrations);
      if (pending.length > 0 || command === 'migrate') {
        const reporting = openDatabase({ ...connection, poolMax: 1 });
        await whenUp(() => reportRowCounts(app.log, reporting, rowCounts), app);
        await reporting.destroy();
      }
    } catch (error) {
      app.log.fatal({ err: error }, 'cannot migrate the database');
      process.exit(1);
    }
    app.log.info('database is up to date');
    if (command === 'migrate') process.exit(0);
  } else {
    // A database that is not up does not prevent the start: /readyz tells when it is.
    const checking = openDatabase({ ...connection, url: settings.DATABASE_URL, direct: false, poolMax: 1 });
    try {
      await checkServer(checking);
      await checking.destroy();
    } catch (error) {
      if (isNotUpYet(error)) app.log.warn({ err: error }, 'database is not up yet');
      else {
        app.log.fatal({ err: error }, 'Cannot use the database');
        process.exit(1);
      }
    }
  }

  const mode = connectionMode(settings);
  app.log.info(mode, `Prepared statements are ${mode.connection === 'direct' ? 'on' : 'off'}`);
  try {
    // Fastify would listen at both addresses of localhost, at the second one with a server that nothing here knows of.
    const isLocalhost = settings.HOST === 'localhost';
    const host = isLocalhost ? (await lookup('localhost', { order: 'ipv4first' })).address : settings.HOST;
    await app.listen({ port: settings.PORT, host, backlog: BACKLOG });
  } catch (error) {
    // The signal to stop may have come before that.
    if (!lifecycle.isDraining) exit(cannotListen(error as NodeJS.ErrnoException, settings));
  }
}

/** Counts the rows of each table anew. Ends the process with exit code 1 when the database fails. */
async function recount(
  app: Service,
  connection: Pick<DatabaseOptions, 'url' | 'applicationName' | 'onConnectionError'>,
  rowCounts: RowCounts[],
) {
  const db = openDatabase({ ...connection, poolMax: 1, timeouts: false });
  try {
    for (const counts of rowCounts) {
      const startedAt = performance.now();
      await recountRows(db, counts);
      app.log.info({ table: counts.table, ms: Math.round(performance.now() - startedAt) }, 'Rows counted');
    }
  } catch (error) {
    app.log.fatal({ err: error }, 'Rows not counted');
    process.exit(1);
  }
  await db.destroy();
}

/** The parts of a service, connected to each other and not started. */
export async function assembleService<Tables>(
  { name, migrations, rowCounts = [], buildApp }: Omit<ServiceDefinition<Tables>, 'defaultPort'>,
  settings: Settings,
) {
  const connection = {
    url: settings.DATABASE_URL,
    applicationName: name,
    direct: connectionMode(settings).connection === 'direct',
    onConnectionError,
  };
  const db = openDatabase<Tables>({ ...connection, poolMax: settings.DATABASE_POOL_MAX });
  const app = await buildApp(db, settings);
  const lifecycle: Lifecycle = { isDraining: false };
  // A dedicated connection: probes check whether the database can be reached, not whether there is much to do.
  const probing = openDatabase<Tables>({ ...connection, poolMax: 1 });
  app.addHook('onClose', () => probing.destroy());
  addProbes(app, { db, probing, migrations, lifecycle });
  addMetrics(app, db, name, maintainRowCounts(app, db, rowCounts));
  return { app, db, lifecycle, onConnectionError };

  function onConnectionError(error: Error) {
    app.log.warn({ err: error }, 'database connection lost');
  }
}

/** Another database for migrations says that the one for requests is reached through a pooler; another role does not. */
function connectionMode({ DATABASE_URL, DATABASE_MIGRATION_URL }: Settings) {
  if (DATABASE_MIGRATION_URL === undefined)
    return { connection: 'direct', reason: 'DATABASE_MIGRATION_URL is not set' };
  const [database, migrationDatabase] = [databaseOf(DATABASE_URL), databaseOf(DATABASE_MIGRATION_URL)];
  return {
    connection: database === migrationDatabase ? 'direct' : 'pooler',
    reason: `DATABASE_URL leads to ${database}, DATABASE_MIGRATION_URL to ${migrationDatabase}`,
  };
}

function databaseOf(url: string) {
  const { host, port = 5_432, database } = parseConnectionUrl(url);
  return `${host}:${port}/${database}`;
}

const isNotUpYet = (error: unknown) => error instanceof OverloadedError || NOT_UP_YET.test(codeOf(error));

/** @throws the last error when the database has not come up within a minute, or at once one that waiting does not mend */
async function whenUp<Result>(ask: () => Promise<Result>, app: Service) {
  const deadline = performance.now() + DATABASE_START_LIMIT_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > deadline || !isNotUpYet(error)) throw error;
      // It is up, though slow: the connection that has taken too long serves the next try.
      if (error instanceof OverloadedError) continue;
      app.log.warn({ err: error }, 'database is not up yet');
      await sleep(DATABASE_RETRY_MS);
    }
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
