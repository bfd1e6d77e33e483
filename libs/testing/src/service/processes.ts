import { afterEach, beforeEach } from '@jest/globals';
import type { TestDatabase } from '@rest-services/local-postgres';
import { sql, type Kysely } from 'kysely';
import { createMigratedDatabase } from '../database/migrated-database.ts';
import { openTestConnection } from '../database/open-test-connection.ts';
import { startProcess } from './process.ts';
import { startService } from './start-service.ts';

/**
 * For a file or `describe` whose tests start processes: gives each test a database, and kills its processes at its end.
 * @param main path of the bundle
 */
export function processesOf(main: string, createDatabase = createMigratedDatabase) {
  let database: TestDatabase;
  let db: Kysely<unknown>;
  beforeEach(async () => {
    database = await createDatabase(main);
    db = openTestConnection(database.url);
  });
  const start = killedAfterEach(main, () => database);
  afterEach(() => database.drop());

  return {
    /** Database of the running test. */
    get database() {
      return database;
    },
    /** Connections to it, which end with it. */
    get db() {
      return db;
    },
    start,
  };
}

/**
 * Starts a process and a database that the tests of a file share, which saves starting them: empties the tables before each test, so
 * that ids begin with 1, and kills at its end what it has started itself. A file awaits it before its tests, so that a service that
 * does not start is one failure.
 * @param main path of the bundle
 */
export async function startShared(main: string) {
  const service = await startService(main);
  beforeEach(() => emptyTables(service.db));
  return { ...service, start: killedAfterEach(main, () => service.database) };
}

export type SharedProcess = Awaited<ReturnType<typeof startShared>>;

/** @returns a function that starts a process on the database, unless `environment` has another, until the end of the test */
function killedAfterEach(main: string, database: () => TestDatabase) {
  const started: ReturnType<typeof startProcess>[] = [];
  afterEach(async () => {
    started.forEach(({ child }) => child.kill('SIGKILL'));
    await Promise.all(started.splice(0).map(({ ended }) => ended));
  });
  return (environment: NodeJS.ProcessEnv = {}, ...args: string[]) => {
    const service = startProcess(main, { DATABASE_URL: database().url, ...environment }, ...args);
    started.push(service);
    return service;
  };
}

/** Empties all tables but those of the migrations; a trigger empties those of row counts. */
async function emptyTables(db: Kysely<unknown>) {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables
    where schemaname = 'public' and tablename !~ '^kysely_|_count_(change|block|total)$'`.execute(db);
  await sql`truncate ${sql.join(rows.map(({ name }) => sql.table(name)))} restart identity`.execute(db);
}
