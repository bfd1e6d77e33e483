// What the files share whose tests migrate a database: each test has an empty one.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { sql, type Kysely } from 'kysely';
import { connectPatiently } from './patient.ts';

let database: TestDatabase;
/** Of one session. */
export let db: Kysely<Record<string, never>>;

export const options = () => ({ url: database.url, onConnectionError: () => undefined });

beforeEach(async () => {
  database = await createTestDatabase();
  db = connectPatiently(database.url);
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
});

/** Starts a program of this folder on the database. */
export const startProgram = (program: 'holder.ts' | 'index-creator.ts') =>
  spawn(process.execPath, [join(import.meta.dirname, program), database.url], { stdio: ['ignore', 'pipe', 'inherit'] });

export async function until(isReached: () => boolean | Promise<boolean>) {
  while (!(await isReached())) await sql`select pg_sleep(0.02)`.execute(db);
}

/** Process ids of the sessions that wait for a lock of the session `holder`. */
export async function waitingFor(holder: number) {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_locks where not granted and ${holder} = any(pg_blocking_pids(pid))`.execute(db);
  return rows.map(({ pid }) => pid);
}

/** Resolves when that number of migrations waits for another one. */
export const othersWait = (migrations: number) =>
  until(async () => {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and state = 'idle' and query like 'select pg_try_advisory_lock%'
        and not exists (select from pg_locks where pg_locks.pid = pg_stat_activity.pid and locktype = 'advisory')`.execute(
      db,
    );
    return rows.length === migrations;
  });
