import { sql, type Kysely } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import { openDatabase, type DatabaseOptions } from './open-database.ts';

/** A service's schema changes by name. Names sort in the order of writing; what has been released is never edited. */
export type Migrations = Record<string, Migration>;

const UNDEFINED_TABLE = '42P01';

/**
 * Brings the schema up to date, one process at a time: others wait for a lock that PostgreSQL frees if its holder dies.
 * A database that is already ahead of `migrations`, because a newer release has run, is left as it is.
 * @param options a direct connection: the lock belongs to a session, which a transaction-mode pooler does not keep
 * @throws whatever a migration throws, after rolling all of them back
 */
export async function migrate(
  options: Omit<DatabaseOptions, 'poolMax' | 'timeouts'>,
  migrations: Migrations,
): Promise<void> {
  // One connection holds the lock while another reads which migrations there are.
  const db = openDatabase<MigrationTable>({ ...options, poolMax: 2, timeouts: false });
  try {
    const getMigrations = async () => {
      const applied = await appliedMigrations(db);
      return { ...Object.fromEntries(applied.map((name) => [name, alreadyApplied])), ...migrations };
    };
    const { error } = await new Migrator({ db, provider: { getMigrations } }).migrateToLatest();
    if (error) throw error as Error;
  } finally {
    await db.destroy();
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
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return [];
    throw error;
  }
}
