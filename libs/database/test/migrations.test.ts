import { once } from 'node:events';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { migrate, pendingMigrations, type Migrations } from '../src/index.ts';
import { db, options, othersWait, startProgram, until, waitingFor } from './migrating.ts';
import { connectPatiently } from './patient.ts';

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

  test('goes on when the process that holds the lock is killed in a migration', async () => {
    const holder = startProgram('holder.ts');
    await once(holder.stdout, 'data');
    const migrated = migrate(options(), second);
    await othersWait(1);
    holder.kill('SIGKILL');
    await migrated;
    expect(await tables()).toEqual(['a', 'b']);
  });

  test('lets requests through while it waits for a table that somebody uses', async () => {
    await migrate(options(), second);
    const user = connectPatiently(options().url);
    const locks: Migrations = {
      ...second,
      '0003_lock': { up: (db) => sql`lock table a`.execute(db).then(() => undefined) },
    };
    const { migrated } = await user.transaction().execute(async (using) => {
      const { rows } = await sql<{ pid: number }>`
        insert into a values (1) returning pg_backend_pid() as pid`.execute(using);
      const migrated = migrate(options(), locks);
      await until(async () => (await waitingFor(rows[0]!.pid)).length > 0);
      // Less than a request may take.
      await sql`set lock_timeout = '2.5s'`.execute(db);
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

  test('rolls back the one that fails, and reports each that is committed with its duration', async () => {
    const applied: { name: string; ms: number }[] = [];
    const report = { ...options(), onApplied: (name: string, ms: number) => applied.push({ name, ms }) };
    let isBroken = true;
    const third: Migrations = {
      ...second,
      '0003_c': {
        async up(db) {
          await db.schema.createTable('c').addColumn('id', 'integer').execute();
          await sql`select pg_sleep(0.2)`.execute(db);
          if (isBroken) throw new Error('no');
        },
      },
    };
    await expect(migrate(report, third)).rejects.toMatchObject({ message: 'no', migration: '0003_c' });
    expect(await tables()).toEqual(['a', 'b']);
    expect(await pendingMigrations(db, third)).toEqual(['0003_c']);
    isBroken = false;
    await migrate(report, third);
    await migrate(report, third);
    expect(applied.map(({ name }) => name)).toEqual(['0001_a', '0002_b', '0003_c']);
    expect(applied[2]!.ms).toBeGreaterThan(190);
  });

  describe('beside a kysely_migration of another schema', () => {
    beforeEach(async () => {
      await sql`create schema other`.execute(db);
      await sql`create table other.kysely_migration (name text)`.execute(db);
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
      const reading = connectPatiently(inApp.url);
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

  test('names what to delete when the database is of no release', async () => {
    const before: Migrations = { '0001_a': first['0001_a']!, '0003_b': second['0002_b']! };
    await migrate(options(), before);
    await expect(migrate(options(), second)).rejects.toThrow(
      '0003_b is applied without 0002_b: drop this database, or delete the folder .data of "npm start"',
    );
    expect(await pendingMigrations(db, second)).toEqual(['0002_b']);
  });
});
