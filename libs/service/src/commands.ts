import { setTimeout as sleep } from 'node:timers/promises';
import {
  checkServer,
  checkSessions,
  Database,
  migrate,
  pendingMigrations,
  recountRows,
  type DatabaseOptions,
  type Migrations,
  type RowCounts,
} from '@rest-services/database';
import { errorCode, OverloadedError } from '@rest-services/errors';
import type { FastifyBaseLogger } from 'fastify';

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

/** Waits for the database and migrates it. @throws the error of the database after a minute, or of a migration */
export async function migrateDatabase(log: FastifyBaseLogger, connection: Connection, migrations: Migrations) {
  const db = openForChecks(connection);
  await whenUp(() => checkServer(db), log);
  const pending = await whenUp(() => pendingMigrations(db, migrations), log);
  await db.destroy();
  const onApplied = (name: string, ms: number) =>
    log.info({ migration: name, ms: Math.round(ms) }, 'Migration applied');
  if (pending.length > 0) await migrate({ ...connection, onApplied }, migrations);
  log.info('database is up to date');
}

/**
 * Checks the sessions of requests, without waiting for the database: /readyz says when it is up.
 * @param unchecked the connection of a server that `migrateDatabase` has not checked
 * @throws Error when the service can't use the database
 */
export async function checkDatabase<Tables>(log: FastifyBaseLogger, db: Database<Tables>, unchecked?: Connection) {
  const checking = unchecked && openForChecks(unchecked);
  try {
    try {
      if (checking) await checkServer(checking);
    } finally {
      // Before the next connection, because the server may allow no further one.
      await checking?.destroy();
    }
    await checkSessions(db);
  } catch (error) {
    if (!isNotUpYet(error)) throw error;
    log.warn({ err: error }, 'database is not up yet');
  }
}

/** Recounts the rows of each table. */
export async function recountTables(log: FastifyBaseLogger, connection: Connection, rowCounts: RowCounts[]) {
  const db = new Database({ ...connection, poolMax: 1, purpose: 'migrations' });
  for (const counts of rowCounts) {
    const startedAt = performance.now();
    await recountRows(db, counts);
    log.info({ table: counts.table, ms: Math.round(performance.now() - startedAt) }, 'Rows counted');
  }
  await db.destroy();
}

export const isNotUpYet = (error: unknown) => error instanceof OverloadedError || NOT_UP_YET.test(errorCode(error));

/** @throws the last error after a minute, or the first error that does not go away by waiting */
async function whenUp<Result>(query: () => Promise<Result>, log: FastifyBaseLogger) {
  const deadline = performance.now() + DATABASE_START_LIMIT_MS;
  for (;;) {
    try {
      return await query();
    } catch (error) {
      if (performance.now() > deadline || !isNotUpYet(error)) throw error;
      // The database is up, though slow: the same connection serves the next try.
      if (error instanceof OverloadedError) continue;
      log.warn({ err: error }, 'database is not up yet');
      await sleep(DATABASE_RETRY_MS);
    }
  }
}
