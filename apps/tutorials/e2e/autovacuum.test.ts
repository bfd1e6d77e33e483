import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { migrate } from '@rest-services/database';
import { ensureDatabase, startCluster } from '@rest-services/local-postgres';
import { closedAtEnd, openTestConnection, startProcess } from '@rest-services/testing';
import { sql, type Kysely } from 'kysely';
import { migrations } from '../src/database.ts';

// PostgreSQL cleans up a table after many changes of it, which takes minutes for a large one.

test('DELETE /api/tutorials and a migration end the work of autovacuum at the table', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'autovacuum-postgres-'));
  const cluster = await startCluster(directory, { durable: false });
  closedAtEnd(() => cluster.stop().then(() => rm(directory, { recursive: true })));
  const url = await ensureDatabase(cluster.url, 'tutorials');
  const db = openTestConnection(url);
  // PostgreSQL cancels autovacuum after this wait: half the default, so that a busy machine has the rest of the service's time for it.
  await sql`alter system set deadlock_timeout = '500ms'`.execute(db);
  const service = await startProcess('dist/main.js', { DATABASE_URL: url }).listening();
  await sql`alter table tutorial set (
    autovacuum_vacuum_threshold = 0, autovacuum_vacuum_insert_threshold = 0, autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)`.execute(db);

  await occupyTable(db);
  const file = sql`select pg_relation_filenode('tutorial') as file`;
  const before = (await file.execute(db)).rows;
  const response = await fetch(`${service}/api/tutorials`, { method: 'DELETE' });
  const body = { message: '20000 Tutorials were deleted successfully!' };
  expect([response.status, await response.json()]).toEqual([200, body]);
  // It was truncated.
  expect((await file.execute(db)).rows).not.toEqual(before);

  await occupyTable(db);
  const locking = {
    up: (transaction: Kysely<unknown>) => sql`lock table tutorial`.execute(transaction).then(() => undefined),
  };
  await migrate({ url, onConnectionError: () => undefined }, { ...migrations, '9999_lock': locking });
});

/** Fills the table and waits until autovacuum works at it, as slowly as at a large one. It does not begin again. */
async function occupyTable(db: Kysely<unknown>) {
  const setNaptime = async (naptime: string) => {
    await sql`alter system set autovacuum_naptime = ${sql.lit(naptime)}`.execute(db);
    await sql`select pg_reload_conf()`.execute(db);
  };
  await setNaptime('1s');
  await sql`insert into tutorial (title) select 'Tutorial ' || n from generate_series(1, 20000) n`.execute(db);
  const working = sql`select from pg_locks join pg_stat_activity using (pid)
    where backend_type = 'autovacuum worker' and relation = 'tutorial'::regclass and mode = 'ShareUpdateExclusiveLock' and granted`;
  while ((await working.execute(db)).rows.length === 0);
  await setNaptime('1h');
}
