import { setTimeout as sleep } from 'node:timers/promises';
import { sql, type QueryExecutorProvider } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import { Database, type DatabaseOptions } from '../connection/database.ts';
import { MIGRATION_IDLE_TIMEOUT } from '../connection/client-config.ts';
import { errorCode, SQLSTATE } from '../sqlstate.ts';
import { createIndex, lockIndexes, unlockIndexes, type ConcurrentIndex } from './concurrent-index.ts';

/** Schema changes by name. Names sort in the order of writing; a released one is never edited. */
export type Migrations = Record<string, Migration | ConcurrentIndex>;

/**
 * Maximum wait of a migration for a lock, after which it retries: requests for the table wait behind it. It is longer than the
 * `deadlock_timeout` of PostgreSQL, after which a blocking autovacuum is ended.
 */
const LOCK_TIMEOUT_MS = 1_100;
const RETRY_MS = 1_000;

/** Interval of the checks whether a migration waits for another session. */
const WATCH_INTERVAL_MS = 400;

export interface MigrateOptions extends Pick<
  DatabaseOptions,
  'readPassword' | 'applicationName' | 'onConnectionError'
> {
  /** A direct connection: the lock belongs to a session, which a transaction-mode pooler does not keep. */
  url: string;
  /**
   * Called with the process ids of the sessions that block the migration, by its lock or by a table; called again when they change
   * and after a retry.
   */
  onBlocked?: (pids: number[]) => void;
  /** Called for each migration that has been applied, after the commit of its transaction. */
  onApplied?: (migration: AppliedMigration) => void;
}

export interface AppliedMigration {
  name: string;
  /** Duration of the attempt that succeeded. */
  ms: number;
}

/**
 * Brings the schema up to date, one process at a time, under a lock that PostgreSQL frees when its holder dies, or some seconds after
 * it is frozen or cut off. Leaves a database as it is that a newer release has migrated. Retries for as long as other sessions use a
 * table. All migrations are one transaction, except that those before a `ConcurrentIndex` are committed first.
 * @throws the error of a migration, after rolling back its transaction; an Error that names DATABASE_MIGRATION_URL when a pooler
 * stands before the server
 */
export async function migrate(
  { onBlocked = () => undefined, onApplied = () => undefined, ...connection }: MigrateOptions,
  migrations: Migrations,
): Promise<void> {
  const db = new Database<MigrationTable>({ ...connection, poolMax: 1, purpose: 'migrations' });
  // What is asked for while the only connection of `db` holds the lock.
  const watching = new Database({ ...connection, poolMax: 1, purpose: 'migrations' });
  const isOver = new AbortController();
  const durations = new Map<string, number>();
  let createdIndex: string | undefined;
  try {
    await db.kysely.connection().execute(async (migrating) => {
      const pid = await directSessionOf(migrating);
      void watchBlockers(watching, pid, onChange(onBlocked), isOver.signal).catch(() => undefined);
      const migrator = new Migrator({
        db: migrating,
        provider: { getMigrations },
        ...(await migrationTableSchema(migrating)),
      });
      for (;;) {
        await applyTransaction(migrating, migrator);
        const [index] = await pendingMigrations(migrating, migrations);
        if (index === undefined) return;
        await lockIndexes(migrating, onChange(onBlocked));
        // Another process may have created it during the wait.
        if ((await pendingMigrations(migrating, migrations)).includes(index)) {
          await timed(index, () => createIndex(migrating, migrations[index] as ConcurrentIndex));
          createdIndex = index;
          await applyTransaction(migrating, migrator);
        }
        await unlockIndexes(migrating);
      }
    });
  } catch (error) {
    throw describeRefusal(error);
  } finally {
    isOver.abort();
    await db.destroy();
    await watching.destroy();
  }

  async function applyTransaction(migrating: QueryExecutorProvider, migrator: Migrator) {
    await sql`set lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(migrating);
    for (;;) {
      const { error, results = [] } = await migrator.migrateToLatest();
      if (!error) {
        results.forEach(({ migrationName: name }) => onApplied({ name, ms: durations.get(name)! }));
        return;
      }
      if (errorCode(error) !== SQLSTATE.LOCK_NOT_AVAILABLE) throw error as Error;
      await sleep(RETRY_MS);
    }
  }

  async function getMigrations() {
    const applied = await appliedMigrations(watching);
    const runnable = transactionOf(Object.keys(migrations).filter((name) => !applied.includes(name)));
    return Object.fromEntries([
      ...applied.map((name) => [name, alreadyApplied]),
      ...runnable.map((name) => [name, transactional(name)]),
    ]) as Record<string, Migration>;
  }

  /** The pending migrations before the next index, or only the index after it has been created. */
  function transactionOf(pending: string[]) {
    if (createdIndex !== undefined && pending[0] === createdIndex) return [createdIndex];
    const index = pending.findIndex((name) => 'createIndexConcurrently' in migrations[name]!);
    return index === -1 ? pending : pending.slice(0, index);
  }

  function transactional(name: string): Migration {
    const migration = migrations[name]!;
    if ('createIndexConcurrently' in migration) return alreadyApplied;
    return { up: (migrating) => timed(name, () => migration.up(migrating)) };
  }

  async function timed(name: string, run: () => Promise<void>) {
    const startedAt = performance.now();
    try {
      await run();
    } catch (error) {
      // For the log, because an error of PostgreSQL does not say which migration it has ended.
      throw Object.assign(error as Error, { migration: name });
    }
    durations.set(name, performance.now() - startedAt);
  }
}

/** Names of the migrations that the database still lacks. */
export async function pendingMigrations(db: QueryExecutorProvider, migrations: Migrations): Promise<string[]> {
  const applied = new Set(await appliedMigrations(db));
  return Object.keys(migrations).filter((name) => !applied.has(name));
}

interface MigrationTable {
  kysely_migration: { name: string };
}

const alreadyApplied: Migration = { up: () => Promise.resolve() };

async function appliedMigrations(db: QueryExecutorProvider) {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
    return rows.map(({ name }) => name);
  } catch (error) {
    if (errorCode(error) === SQLSTATE.UNDEFINED_TABLE) return [];
    throw error;
  }
}

/**
 * Kysely would take a `kysely_migration` of any schema for its own.
 * @returns the schema of the table that the search path finds, or in which it would be created
 */
async function migrationTableSchema(db: QueryExecutorProvider) {
  const { rows } = await sql<{ migrationTableSchema: string }>`
    select coalesce(
      (select nspname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
        where pg_class.oid = to_regclass('kysely_migration')),
      current_schema()
    ) as "migrationTableSchema"`.execute(db);
  return rows[0]!;
}

/**
 * @returns the process id of the session
 * @throws Error with the SQLSTATE 08P01 when a pooler has ignored the parameters of the session
 */
async function directSessionOf(db: QueryExecutorProvider) {
  const { rows } = await sql<{ pid: number; idle: string }>`
    select pg_backend_pid() as pid, current_setting('idle_session_timeout') as idle`.execute(db);
  const { pid, idle } = rows[0]!;
  if (idle === MIGRATION_IDLE_TIMEOUT) return pid;
  throw Object.assign(new Error('startup parameters were ignored'), { code: SQLSTATE.PROTOCOL_VIOLATION });
}

function describeRefusal(error: unknown) {
  if (errorCode(error) !== SQLSTATE.PROTOCOL_VIOLATION) return error;
  const refusal = new Error('DATABASE_MIGRATION_URL must lead to the server itself', { cause: error });
  return Object.assign(refusal, { code: SQLSTATE.PROTOCOL_VIOLATION });
}

/** @throws AbortError when `signal` is aborted */
async function watchBlockers(
  db: QueryExecutorProvider,
  pid: number,
  report: (pids: number[]) => void,
  signal: AbortSignal,
) {
  for (;;) {
    await sleep(WATCH_INTERVAL_MS, undefined, { signal });
    // The migration does not depend on the report.
    report(await blockersOf(db, pid).catch(() => []));
  }
}

/** Leaves out empty lists, and those that equal the one before. */
function onChange(onBlocked: (pids: number[]) => void) {
  let known = '';
  return (pids: number[]) => {
    if (pids.length > 0 && String(pids) !== known) onBlocked(pids);
    known = String(pids);
  };
}

async function blockersOf(db: QueryExecutorProvider, pid: number) {
  const { rows } = await sql<{ pids: number[] }>`select pg_blocking_pids(${pid}) as pids`.execute(db);
  return rows[0]!.pids;
}
