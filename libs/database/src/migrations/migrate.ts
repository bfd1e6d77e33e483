import { setTimeout as sleep } from 'node:timers/promises';
import { sql, type Kysely, type QueryExecutorProvider } from 'kysely';
import type { Migration } from 'kysely/migration';
import { Database, type DatabaseOptions } from '../connection/database.ts';
import { hasParameter } from '../connection/server/check-server.ts';
import { MIGRATION_IDLE_TIMEOUT } from '../connection/client-config.ts';
import { errorCode, SQLSTATE } from '@rest-services/errors';
import { createIndex, type ConcurrentIndex } from './concurrent-index.ts';

/** Schema changes by name. Names sort in the order of writing; a released one is never edited. */
export type Migrations = Record<string, Pick<Migration, 'up'> | ConcurrentIndex>;

/**
 * Maximum wait of a migration for a lock, after which it retries: requests for the table wait behind it. It is longer than the
 * `deadlock_timeout` of PostgreSQL, after which a blocking autovacuum is ended.
 */
const LOCK_TIMEOUT_MS = 1_100;
const RETRY_MS = 1_000;

/** Advisory lock of the process that migrates a database. The number is arbitrary. */
const LOCK_ID = 1_207_846_339;

/** Of a direct connection: the lock belongs to a session, which a transaction-mode pooler does not keep. */
export interface MigrateOptions extends Omit<DatabaseOptions, 'poolMax'> {
  /** Called for each migration after its commit, with the duration of the attempt that succeeded. */
  onApplied?: (name: string, ms: number) => void;
}

/**
 * Brings the schema up to date, one process at a time, under a lock that PostgreSQL frees when its holder dies, or some seconds after
 * it is frozen or cut off. Each migration is a transaction, which is retried for as long as other sessions use a table; a
 * `ConcurrentIndex` is none. Leaves a database as it is that a newer release has migrated.
 * @throws the error of a migration, after rolling back its transaction; an Error that names DATABASE_MIGRATION_URL when a pooler
 * stands before the server; an Error when the database lacks a migration before one that it has
 */
export async function migrate(
  { onApplied = () => undefined, ...connection }: MigrateOptions,
  migrations: Migrations,
): Promise<void> {
  const db = new Database({ ...connection, poolMax: 1, purpose: 'migrations' });
  try {
    if (!(await hasParameter(db, 'idle_session_timeout', MIGRATION_IDLE_TIMEOUT)))
      throw Object.assign(new Error('DATABASE_MIGRATION_URL must lead to the server itself'), {
        code: SQLSTATE.PROTOCOL_VIOLATION,
      });
    await db.kysely.connection().execute(async (session) => {
      while ((await pendingMigrations(session, migrations)).length > 0) {
        // Polls, because a session that waits in a statement has a snapshot, for whose end the creation of an index would wait.
        const locking = sql<{ isLocked: boolean }>`select pg_try_advisory_lock(${LOCK_ID}) as "isLocked"`;
        if ((await locking.execute(session)).rows[0]!.isLocked) return applyPending(session, migrations, onApplied);
        await sleep(RETRY_MS);
      }
    });
  } finally {
    await db.destroy();
  }
}

/** Names of the migrations that the database still lacks. */
export async function pendingMigrations(db: QueryExecutorProvider, migrations: Migrations): Promise<string[]> {
  const applied = new Set(await appliedMigrations(db));
  return Object.keys(migrations).filter((name) => !applied.has(name));
}

async function appliedMigrations(db: QueryExecutorProvider) {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
    return rows.map(({ name }) => name);
  } catch (error) {
    if (errorCode(error) === SQLSTATE.UNDEFINED_TABLE) return [];
    throw error;
  }
}

async function applyPending(
  session: Kysely<unknown>,
  migrations: Migrations,
  onApplied: (name: string, ms: number) => void,
) {
  await createMigrationTable(session);
  const pending = await pendingMigrations(session, migrations);
  const later = (await appliedMigrations(session)).find((name) => name > pending[0]!);
  if (later !== undefined)
    throw new Error(
      `${later} is applied without ${pending[0]}: drop this database, or delete the folder .data of "npm start"`,
    );
  for (const name of pending) {
    try {
      onApplied(name, await apply(session, name, migrations[name]!));
    } catch (error) {
      // For the log, because an error of PostgreSQL does not say which migration it has ended.
      throw Object.assign(error as Error, { migration: name });
    }
  }
}

/** As Kysely's Migrator makes it, unless the search path finds one. */
async function createMigrationTable(db: QueryExecutorProvider) {
  await sql`
    do $$ begin
      if to_regclass('kysely_migration') is null then
        create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null);
      end if;
    end $$`.execute(db);
}

/** Applies a migration as soon as other sessions let it. @returns the duration of the attempt that succeeded */
async function apply(session: Kysely<unknown>, name: string, migration: Migrations[string]): Promise<number> {
  const startedAt = performance.now();
  try {
    if ('createIndexConcurrently' in migration) await createIndex(session, migration);
    await session.transaction().execute(async (transaction) => {
      await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(transaction);
      if ('up' in migration) await migration.up(transaction);
      await sql`insert into kysely_migration values (${name}, ${new Date().toISOString()})`.execute(transaction);
    });
    return performance.now() - startedAt;
  } catch (error) {
    if (errorCode(error) !== SQLSTATE.LOCK_NOT_AVAILABLE) throw error;
    await sleep(RETRY_MS);
    return apply(session, name, migration);
  }
}
