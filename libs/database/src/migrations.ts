import { setTimeout as sleep } from 'node:timers/promises';
import { sql, type Kysely } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import { codeOf } from './connection.ts';
import { openDatabase, type DatabaseOptions } from './open-database.ts';

/** A service's schema changes by name. Names sort in the order of writing; what has been released is never edited. */
export type Migrations = Record<string, Migration>;

const UNDEFINED_TABLE = '42P01';

/** SQLSTATE lock_not_available. */
const LOCK_TIMED_OUT = '55P03';

/**
 * Who wants to use a table that a migration waits for waits behind it, the requests of a release that is running among them. So a
 * migration gives way after this time, and begins anew. It is longer than PostgreSQL's `deadlock_timeout`, after which an autovacuum
 * that is in the way is ended.
 */
const LOCK_TIMEOUT_MS = 1_100;
const RETRY_MS = 1_000;

/** While a migration is not over, it is asked this often whether it waits for another session. */
const WATCH_INTERVAL_MS = 400;

export interface MigrateOptions extends Pick<DatabaseOptions, 'onConnectionError'> {
  /** A direct connection: the lock belongs to a session, which a transaction-mode pooler does not keep. */
  url: string;
  /**
   * The sessions with these process ids have what the migration waits for, or wait for it before it: the lock, as other
   * processes that migrate, or a table. Called again when they are others, and when the migration has begun anew.
   */
  onBlocked?: (pids: number[]) => void;
}

/**
 * Brings the schema up to date, one process at a time: others wait for a lock that PostgreSQL frees if its holder dies,
 * and some seconds after its holder has been frozen or cut off. A database that is already ahead of `migrations`, because
 * a newer release has run, is left as it is. Migrations begin anew, and wait as long as it takes, while others use a table.
 * @throws whatever a migration throws, after rolling all of them back
 */
export async function migrate(
  { onBlocked = () => undefined, ...connection }: MigrateOptions,
  migrations: Migrations,
): Promise<void> {
  const db = openDatabase<MigrationTable>({ ...connection, poolMax: 1, timeouts: false });
  const watching = openDatabase({ ...connection, poolMax: 1 });
  const isOver = new AbortController();
  try {
    await db.connection().execute(async (migrating) => {
      const pid = await sessionOf(migrating);
      await sql`set lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(migrating);
      void watchBlockers(watching, pid, onBlocked, isOver.signal).catch(() => undefined);
      const migrator = new Migrator({ db: migrating, provider: { getMigrations } });
      for (;;) {
        const { error } = await migrator.migrateToLatest();
        if (!error) return;
        if (codeOf(error) !== LOCK_TIMED_OUT) throw error as Error;
        await sleep(RETRY_MS);
      }
    });
  } finally {
    isOver.abort();
    await db.destroy();
    await watching.destroy();
  }

  /** Asked for while the only connection holds the lock; another one, kept, would be ended as idle in a long migration. */
  async function getMigrations() {
    const reading = openDatabase<MigrationTable>({ ...connection, poolMax: 1, timeouts: false });
    try {
      const applied = await appliedMigrations(reading);
      return { ...Object.fromEntries(applied.map((name) => [name, alreadyApplied])), ...migrations };
    } finally {
      await reading.destroy();
    }
  }
}

/** Names of the migrations that the database still lacks. */
export async function pendingMigrations<Tables>(db: Kysely<Tables>, migrations: Migrations): Promise<string[]> {
  const applied = new Set(await appliedMigrations(db));
  return Object.keys(migrations).filter((name) => !applied.has(name));
}

interface MigrationTable {
  kysely_migration: { name: string };
}

const alreadyApplied: Migration = { up: () => Promise.resolve() };

async function appliedMigrations<Tables>(db: Kysely<Tables>) {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
    return rows.map(({ name }) => name);
  } catch (error) {
    if (codeOf(error) === UNDEFINED_TABLE) return [];
    throw error;
  }
}

async function sessionOf<Tables>(db: Kysely<Tables>) {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  return rows[0]!.pid;
}

/** @throws AbortError when `signal` says that it is over */
async function watchBlockers<Tables>(
  db: Kysely<Tables>,
  pid: number,
  onBlocked: (pids: number[]) => void,
  signal: AbortSignal,
) {
  for (let known = ''; ;) {
    await sleep(WATCH_INTERVAL_MS, undefined, { signal });
    // The migration goes on without its news.
    const pids = await blockersOf(db, pid).catch(() => []);
    if (pids.length > 0 && String(pids) !== known) onBlocked(pids);
    known = String(pids);
  }
}

async function blockersOf<Tables>(db: Kysely<Tables>, pid: number) {
  const { rows } = await sql<{ pids: number[] }>`select pg_blocking_pids(${pid}) as pids`.execute(db);
  return rows[0]!.pids;
}
