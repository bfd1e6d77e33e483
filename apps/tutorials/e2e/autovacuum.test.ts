import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { migrate } from '@rest-services/database';
import { ensureDatabase, startCluster, type Cluster } from '@rest-services/local-postgres';
import { openTestConnection, startProcess } from '@rest-services/testing';
import { sql, type Kysely } from 'kysely';
import { migrations } from '../src/database.ts';

// PostgreSQL cleans up a table after many changes of it, which takes minutes for a large one. The tests use the table while it works.

let directory: string;
let cluster: Cluster;
let service: ReturnType<typeof startProcess>;
let url: string;
let databaseUrl: string;
let db: Kysely<unknown>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'autovacuum-postgres-'));
  cluster = await startCluster(directory, { durable: false });
  databaseUrl = await ensureDatabase(cluster.url, 'tutorials');
  db = openTestConnection(databaseUrl);
  // PostgreSQL cancels autovacuum after this wait: half the default, so that a busy machine has the rest of the service's time for it.
  await sql`alter system set deadlock_timeout = '500ms'`.execute(db);
  service = startProcess('dist/main.js', { DATABASE_URL: databaseUrl });
  url = await service.listening();
  await sql`alter table tutorial set (
    autovacuum_vacuum_threshold = 0, autovacuum_vacuum_insert_threshold = 0, autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)`.execute(db);
});
afterAll(async () => {
  service.child.kill('SIGKILL');
  await service.ended;
  await db.destroy();
  await cluster.stop();
  await rm(directory, { recursive: true });
});

beforeEach(occupyTable);

/** Fills the table and waits until autovacuum works at it, as slowly as at a large one. It does not begin again in this test. */
async function occupyTable() {
  await setNaptime('1s');
  await sql`insert into tutorial (title, description) select 'Tutorial ' || n, '' from generate_series(1, 20000) n`.execute(
    db,
  );
  const working = sql`select from pg_locks join pg_stat_activity using (pid)
    where backend_type = 'autovacuum worker' and relation = 'tutorial'::regclass and mode = 'ShareUpdateExclusiveLock' and granted`;
  while ((await working.execute(db)).rows.length === 0);
  await setNaptime('1h');
}

async function setNaptime(naptime: string) {
  await sql`alter system set autovacuum_naptime = ${sql.lit(naptime)}`.execute(db);
  await sql`select pg_reload_conf()`.execute(db);
}

test('DELETE /api/tutorials truncates the table while autovacuum works at it', async () => {
  const before = await fileOfTable();
  await deleteAll();
  expect(await fileOfTable()).not.toBe(before);
});

async function deleteAll() {
  const response = await fetch(`${url}/api/tutorials`, { method: 'DELETE' });
  expect([response.status, await response.json()]).toEqual([
    200,
    { message: '20000 Tutorials were deleted successfully!' },
  ]);
}

test('A migration of a table does not wait for autovacuum to end by itself', async () => {
  const locking = {
    up: (transaction: Kysely<unknown>) => sql`lock table tutorial`.execute(transaction).then(() => undefined),
  };
  await migrate({ url: databaseUrl, onConnectionError: () => undefined }, { ...migrations, '9999_lock': locking });
});

async function fileOfTable() {
  const { rows } = await sql<{ file: number }>`select pg_relation_filenode('tutorial') as file`.execute(db);
  return rows[0]!.file;
}
