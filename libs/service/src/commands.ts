import { setTimeout as sleep } from 'node:timers/promises';
import {
  checkServer,
  Database,
  migrate,
  pendingMigrations,
  recountRows,
  type DatabaseOptions,
  type Migrations,
  type RowCounts,
} from '@rest-services/database';
import { errorCode, OverloadedError } from '@rest-services/errors';
import type { Service } from './create-service.ts';

/** Timeout for the database to come up, after which the process ends, because its orchestrator should see that. */
const DATABASE_START_LIMIT_MS = 60_000;
const DATABASE_RETRY_MS = 500;

/**
 * System errors and classes of SQLSTATEs of a database that is starting, restarting or full. Other errors, such as a refused
 * password, do not go away by waiting.
 */
const NOT_UP_YET = /^(ECONN|EHOST|ENET|ENOTFOUND|EAI_AGAIN|ENOENT|EPIPE|ETIMEDOUT|08|25006|40|53|55|57)/;

type Connection = Pick<DatabaseOptions, 'url' | 'readPassword' | 'applicationName' | 'onConnectionError'>;

/** One connection for checks, which need no session of their own. */
const openForChecks = (connection: Connection) => new Database({ ...connection, purpose: 'checks', poolMax: 1 });

/** Waits for the database and migrates it. Ends the process with exit code 1 when the database fails. */
export async function migrateDatabase(app: Service, connection: Connection, migrations: Migrations) {
  const onApplied = (name: string, ms: number) =>
    app.log.info({ migration: name, ms: Math.round(ms) }, 'Migration applied');
  await orExit(app, 'cannot migrate the database', async () => {
    const db = openForChecks(connection);
    await whenUp(() => checkServer(db), app);
    const pending = await whenUp(() => pendingMigrations(db, migrations), app);
    await db.destroy();
    if (pending.length > 0) await migrate({ ...connection, onApplied }, migrations);
  });
  app.log.info('database is up to date');
}

/** Ends the process with exit code 1 and a log line when `action` fails. */
async function orExit(app: Service, event: string, action: () => Promise<void>) {
  try {
    await action();
  } catch (error) {
    app.log.fatal({ err: error }, event);
    process.exit(1);
  }
}

/** Checks the server of the database, without waiting for it: /readyz says when it is up. */
export async function checkDatabase(app: Service, connection: Connection) {
  const db = openForChecks(connection);
  await exitIfUnusable(app, () => checkServer(db));
  await db.destroy();
}

/** Ends the process with exit code 1 when a check fails for another reason than that the database is not up yet. */
export async function exitIfUnusable(app: Service, check: () => Promise<void>) {
  await orExit(app, 'Cannot use the database', async () => {
    try {
      await check();
    } catch (error) {
      if (!isNotUpYet(error)) throw error;
      app.log.warn({ err: error }, 'database is not up yet');
    }
  });
}

/** Recounts the rows of each table. Ends the process with exit code 1 when the database fails. */
export async function recount(app: Service, connection: Connection, rowCounts: RowCounts[]) {
  const db = new Database({ ...connection, poolMax: 1, purpose: 'migrations' });
  await orExit(app, 'Rows not counted', async () => {
    for (const counts of rowCounts) {
      const startedAt = performance.now();
      await recountRows(db, counts);
      app.log.info({ table: counts.table, ms: Math.round(performance.now() - startedAt) }, 'Rows counted');
    }
  });
  await db.destroy();
}

const isNotUpYet = (error: unknown) => error instanceof OverloadedError || NOT_UP_YET.test(errorCode(error));

/** @throws the last error after a minute, or the first error that does not go away by waiting */
async function whenUp<Result>(query: () => Promise<Result>, app: Service) {
  const deadline = performance.now() + DATABASE_START_LIMIT_MS;
  for (;;) {
    try {
      return await query();
    } catch (error) {
      if (performance.now() > deadline || !isNotUpYet(error)) throw error;
      // The database is up, though slow: the same connection serves the next try.
      if (error instanceof OverloadedError) continue;
      app.log.warn({ err: error }, 'database is not up yet');
      await sleep(DATABASE_RETRY_MS);
    }
  }
}
