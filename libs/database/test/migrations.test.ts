import { once } from 'node:events';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql, type Kysely } from 'kysely';
import { migrate, Database, pendingMigrations, type AppliedMigration, type Migrations } from '../src/index.ts';
import { db, options, startProgram } from './migrating.ts';

const first: Migrations = { '0001_a': { up: (db) => db.schema.createTable('a').addColumn('id', 'integer').execute() } };
const second: Migrations = {
  ...first,
  '0002_b': { up: (db) => db.schema.createTable('b').addColumn('id', 'integer').execute() },
};

async function tables() {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'kysely%' order by 1`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

describe('migrate', () => {
  test('brings an empty database up to date, and an older one', async () => {
    expect(await pendingMigrations(db, second)).toEqual(['0001_a', '0002_b']);
    await migrate(options(), first);
    expect(await pendingMigrations(db, second)).toEqual(['0002_b']);
    await migrate(options(), second);
    expect(await pendingMigrations(db, second)).toEqual([]);
    expect(await tables()).toEqual(['a', 'b']);
  });

  test('runs each migration once when eight processes start at the same moment', async () => {
    await Promise.all(Array.from({ length: 8 }, () => migrate(options(), second)));
    expect(await tables()).toEqual(['a', 'b']);
  });

  test('takes longer than a request may, if it has to', async () => {
    const slow: Migrations = {
      '0001_slow': { up: (db) => sql`select pg_sleep(1.6)`.execute(db).then(() => undefined) },
    };
    await migrate(options(), slow);
    expect(await pendingMigrations(db, slow)).toEqual([]);
  });

  test('tells who holds the lock, and goes on when that process is killed in a migration', async () => {
    const holder = startProgram('holder.ts');
    await once(holder.stdout, 'data');
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_locks join pg_database on pg_database.oid = database
      where locktype = 'advisory' and datname = current_database()`.execute(db);
    const blocked = Promise.withResolvers<number[]>();
    const migrated = migrate({ ...options(), onBlocked: blocked.resolve }, second);
    expect(await blocked.promise).toEqual(rows.map(({ pid }) => pid));
    holder.kill('SIGKILL');
    await migrated;
    expect(await tables()).toEqual(['a', 'b']);
  });

  test('keeps no connection besides its own while it migrates, which would be ended as idle', async () => {
    // The watcher is never idle for long, and a transaction sees the same sessions until it asks for news.
    const others = sql`
      select from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and query not like '%pg_blocking_pids%'
        and backend_start > (select backend_start from pg_stat_activity where pid = pg_backend_pid())`;
    const up = async (migrating: Kysely<unknown>) => {
      while ((await others.execute(migrating)).rows.length > 0) {
        await sql`select pg_stat_clear_snapshot()`.execute(migrating);
      }
    };
    const ended: Error[] = [];
    await migrate({ ...options(), onConnectionError: (error) => ended.push(error) }, { '0001_alone': { up } });
    expect(ended).toEqual([]);
  });

  test('lets requests through while it waits for a table that somebody uses', async () => {
    await migrate(options(), second);
    const user = new Database({ ...options(), poolMax: 1 });
    const locks: Migrations = {
      ...second,
      '0003_lock': { up: (db) => sql`lock table a`.execute(db).then(() => undefined) },
    };
    const { migrated } = await user.kysely.transaction().execute(async (using) => {
      await sql`insert into a values (1)`.execute(using);
      const blocked = Promise.withResolvers<number[]>();
      const migrated = migrate({ ...options(), onBlocked: blocked.resolve }, locks);
      await blocked.promise;
      // It may take no longer than a request.
      await sql`insert into a values (2)`.execute(db);
      return { migrated };
    });
    await migrated;
    expect(await pendingMigrations(db, locks)).toEqual([]);
    await user.destroy();
  });

  test('tells why it lost its session', async () => {
    const endSession = sql`select pg_terminate_backend(pg_backend_pid())`;
    const ending: Migrations = { '0001_end': { up: (db) => endSession.execute(db).then(() => undefined) } };
    await expect(migrate(options(), ending)).rejects.toThrow('terminating connection due to administrator command');
  });

  test('rolls all back when one fails, and reports each that is committed with its duration', async () => {
    const applied: AppliedMigration[] = [];
    const report = { ...options(), onApplied: (migration: AppliedMigration) => applied.push(migration) };
    await migrate(report, first);
    const slow: Migrations = {
      ...second,
      '0003_slow': { up: (db) => sql`select pg_sleep(0.2)`.execute(db).then(() => undefined) },
    };
    const broken: Migrations = { ...slow, '0004_broken': { up: () => Promise.reject(new Error('no')) } };
    await expect(migrate(report, broken)).rejects.toThrow('no');
    expect(applied).toEqual([{ name: '0001_a', ms: expect.any(Number) }]);
    expect(await tables()).toEqual(['a']);
    await migrate(report, slow);
    expect(applied.map(({ name }) => name)).toEqual(['0001_a', '0002_b', '0003_slow']);
    expect(applied[2]!.ms).toBeGreaterThan(190);
    await migrate(report, slow);
    expect(applied).toHaveLength(3);
  });

  describe('beside a kysely_migration of another schema', () => {
    beforeEach(async () => {
      await sql`create schema other`.execute(db);
      await sql`create table other.kysely_migration (name text)`.execute(db);
      await sql`create table other.kysely_migration_lock (id text)`.execute(db);
    });
    const locations = async () => {
      const { rows } = await sql<{ name: string }>`
        select schemaname || '.' || tablename as name from pg_tables
        where tablename in ('a', 'b', 'kysely_migration') order by 1`.execute(db);
      return rows.map(({ name }) => name);
    };

    test('brings an empty database up to date, and an older one', async () => {
      await migrate(options(), first);
      await migrate(options(), second);
      expect(await pendingMigrations(db, second)).toEqual([]);
      expect(await locations()).toEqual(['other.kysely_migration', 'public.a', 'public.b', 'public.kysely_migration']);
    });

    test('uses the schema that search_path in the options of the URL names', async () => {
      await sql`create schema app`.execute(db);
      const inApp = { ...options(), url: `${options().url}?options=-csearch_path=app` };
      await migrate(inApp, first);
      await migrate(inApp, second);
      const reading = new Database({ ...inApp, poolMax: 1 });
      expect(await pendingMigrations(reading, second)).toEqual([]);
      await reading.destroy();
      expect(await locations()).toEqual(['app.a', 'app.b', 'app.kysely_migration', 'other.kysely_migration']);
    });

    test('goes on where it has begun when a schema comes before in the search path', async () => {
      await migrate(options(), first);
      await sql`create schema app`.execute(db);
      await migrate({ ...options(), url: `${options().url}?options=-csearch_path=app,public` }, second);
      expect(await locations()).toEqual(['app.b', 'other.kysely_migration', 'public.a', 'public.kysely_migration']);
    });
  });

  test('leaves a database alone that a newer release has migrated', async () => {
    await migrate(options(), second);
    await migrate(options(), first);
    expect(await pendingMigrations(db, first)).toEqual([]);
    expect(await tables()).toEqual(['a', 'b']);
  });
});
