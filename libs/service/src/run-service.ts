import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import { assembleService, type ServiceDefinition } from './assemble-service.ts';
import { checkDatabase, migrateDatabase, recountTables } from './commands.ts';
import { cut } from './http/connections/connections.ts';
import { flushLog } from './observability/log-stream.ts';
import { loadSettings, type Settings } from './settings.ts';

/** Timeout for the whole drain, after which the process ends. */
const STOP_LIMIT_MS = 10_000;

const POOL_END_LIMIT_MS = 500;

/** Maximum number of new connections that wait, as many as Linux allows. Otherwise, some clients retry after a second. */
const BACKLOG = 4_096;

/** Signals that do not drain the service: of a crash, which Node.js handles, and the one that writes heap snapshots by its flags. */
const NOT_HANDLED = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV', 'SIGUSR2'] as const;

/**
 * The life of a service process. `node main.js` waits for the database, migrates and serves until a signal stops it;
 * `node main.js migrate` only migrates; `node main.js recount` recounts the rows of the tables. Ends the process with exit code 1
 * and one line when it can't start.
 */
export async function runService<Tables>(definition: ServiceDefinition<Tables>, defaultPort: number) {
  const settings = readSettings(defaultPort);
  const command = process.argv[2];
  if (command !== undefined && !['migrate', 'recount'].includes(command)) {
    exit(`Unknown command "${command}". Use "migrate", "recount" or "health".`);
  }

  const assembled = assembleService(definition, settings).catch((error: unknown) => exit((error as Error).message));
  // Before the first await, because the first process of a container gets no signal that it does not handle.
  closeWithGrace({ delay: STOP_LIMIT_MS, logger: false, skip: [...NOT_HANDLED] }, async ({ err, signal }) => {
    const { app, db, lifecycle, exportRest } = await assembled;
    if (err) app.log.fatal({ err }, 'ending after an unexpected error');
    // The exit code says that the job is not done. PostgreSQL rolls back its transaction.
    if (command !== undefined) {
      if (signal) app.log.warn({ signal }, 'stopped before the database was up to date');
      await flushLog();
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
    await flushLog();
  });

  const { app, db, lifecycle, exportRest, connection, migrationConnection } = await assembled;
  const { log } = app;
  // A second signal ends the process at once.
  process.once('exit', () => app.connections.forEach((_, socket) => cut(app, socket)));
  const isMigrating = command === 'migrate' || (command === undefined && settings.MIGRATE_ON_START);
  if (isMigrating)
    await orExit('cannot migrate the database', () => migrateDatabase(log, migrationConnection, definition.migrations));
  if (command === 'recount')
    await orExit('Rows not counted', () => recountTables(log, migrationConnection, definition.rowCounts ?? []));
  if (command !== undefined) {
    await exportRest();
    await flushLog();
    process.exit(0);
  }
  await orExit('Cannot use the database', () => checkDatabase(log, db, isMigrating ? undefined : connection));
  try {
    const { HOST, PORT } = settings;
    // Fastify listens at both addresses of localhost, with a second server that the drain does not know.
    const host = HOST === 'localhost' ? (await lookup(HOST, { order: 'ipv4first' })).address : HOST;
    await app.listen({ port: PORT, host, backlog: BACKLOG });
  } catch (error) {
    // A signal during the start closes the app, so that it can't listen.
    if (!lifecycle.isDraining) exit(cannotListen(error as NodeJS.ErrnoException, settings));
  }

  /** Ends the process with exit code 1 and a log line when `action` fails. */
  async function orExit(event: string, action: () => Promise<void>) {
    try {
      await action();
    } catch (error) {
      log.fatal({ err: error }, event);
      await flushLog();
      process.exit(1);
    }
  }
}

function cannotListen(error: NodeJS.ErrnoException, { HOST, PORT }: Settings) {
  if (error.code === 'EADDRINUSE')
    return `Port ${PORT} is taken${HOST && ` on ${HOST}`}: another program listens there. Set PORT to a free one.`;
  return `Cannot listen on HOST ${HOST}, PORT ${PORT}, which must be an address of this machine and a port that is open to its user: ${error.message}`;
}

function readSettings(defaultPort: number) {
  try {
    return loadSettings(process.env, defaultPort);
  } catch (error) {
    return exit((error as Error).message);
  }
}

function exit(reason: string): never {
  console.error(reason);
  process.exit(1);
}
