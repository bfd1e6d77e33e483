import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { migrate, pendingMigrations, type Migrations } from '../src/index.ts';
import { db, indexed, making, options, released, status } from './migrating.ts';
import { openPatient } from './open-database.ts';

/** A transaction that has written to the table, for whose end others wait. */
async function startWriter() {
  const transaction = await openPatient().startTransaction().execute();
  const { rows: own } = await sql<{ pid: number }>`
    insert into item values ('Writing') returning pg_backend_pid() as pid`.execute(transaction);
  /** Resolves to the process id of a session that waits for it. */
  const waiting = async (): Promise<number> => {
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_locks where not granted and ${own[0]!.pid} = any(pg_blocking_pids(pid))`.execute(db);
    return rows[0]?.pid ?? waiting();
  };
  return { waiting, end: () => transaction.commit().execute() };
}

/** Tables and indexes of all schemas; an invalid index has a `!`. */
async function relations() {
  const { rows } = await sql<{ name: string }>`
    select relnamespace::regnamespace || '.' || relname || case when indisvalid = false then '!' else '' end as name
    from pg_class left join pg_index on indexrelid = pg_class.oid
    where relname ~ '^(item|more|kysely_migration$)' and relkind in ('r', 'i') order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

describe('Migrations', () => {
  test('are made once each when eight processes start at the same moment', async () => {
    const applied: string[] = [];
    const report = { ...options(), onApplied: (name: string) => applied.push(name) };
    expect(await pendingMigrations(db, indexed)).toEqual(['0001_item', '0002_item_status']);
    await Promise.all(Array.from({ length: 8 }, () => migrate(report, indexed)));
    expect(applied).toEqual(['0001_item', '0002_item_status']);
    expect(await pendingMigrations(db, indexed)).toEqual([]);
  });

  test('go to the first schema of the search path, and on where one of its schemas has them', async () => {
    await sql`create schema app; create schema first; create schema other`.execute(db);
    await sql`create table other.kysely_migration (name text)`.execute(db);
    await migrate(options(), indexed);
    await migrate(options('app'), released);
    await migrate(options('app'), indexed);
    const later = { ...indexed, '0003_more': making(sql`create table more ()`) };
    await migrate(options('first,public'), later);
    expect(await pendingMigrations(openPatient(options('app').url), later)).toEqual(['0003_more']);
    const made = ['item', 'item_status', 'kysely_migration'];
    expect(await relations()).toEqual([
      ...made.map((name) => `app.${name}`),
      ...['first.more', 'other.kysely_migration'],
      ...made.map((name) => `public.${name}`),
    ]);
  });

  test('are rolled back one by one, and reported with their durations when committed', async () => {
    const applied: [name: string, ms: number][] = [];
    const onApplied = (...each: [string, number]) => applied.push(each);
    let isBroken = true;
    const migrations: Migrations = {
      ...indexed,
      '0003_more': {
        async up(db) {
          await sql`create table more ()`.execute(db);
          await sql`select pg_sleep(0.2)`.execute(db);
          if (isBroken) throw new Error('no');
        },
      },
      '0004_status': { ...status, createIndexConcurrently: 'item_again' },
    };
    const migrating = () => migrate({ ...options(), onApplied }, migrations);
    await expect(migrating()).rejects.toMatchObject({ message: 'no', migration: '0003_more' });
    expect(await relations()).toEqual(['public.item', 'public.item_status', 'public.kysely_migration']);
    expect(await pendingMigrations(db, migrations)).toEqual(['0003_more', '0004_status']);
    isBroken = false;
    await migrating();
    await migrating();
    expect(applied.map(([name]) => name)).toEqual(Object.keys(migrations));
    expect(applied[2]![1]).toBeGreaterThan(190);
  });

  test('let requests through while they wait for a table that somebody uses', async () => {
    await migrate(options(), released);
    const user = await startWriter();
    const locks = { ...released, '0002_lock': making(sql`lock table item`) };
    const migrated = migrate(options(), locks);
    await user.waiting();
    // Less than a request may take.
    await sql`set lock_timeout = '2.5s'`.execute(db);
    await sql`insert into item values ('Doing')`.execute(db);
    await user.end();
    await migrated;
    expect(await pendingMigrations(db, locks)).toEqual([]);
  });

  test('name what to delete when the database is of no release', async () => {
    await migrate(options(), { ...released, '0003_more': making(sql`create table more ()`) });
    await expect(migrate(options(), indexed)).rejects.toThrow(
      '0003_more is applied without 0002_item_status: drop this database, or delete the folder .data of "npm start"',
    );
    expect(await pendingMigrations(db, indexed)).toEqual(['0002_item_status']);
  });
});

describe('An index that is created concurrently', () => {
  test('is not created again that another process has dropped in a later migration', async () => {
    await migrate(options(), released);
    const migrations = { ...indexed, '0003_drop': making(sql`drop index item_status`) };
    const writer = await startWriter();
    const first = migrate(options(), migrations);
    await writer.waiting();
    const second = migrate(options(), migrations);
    const polling = sql`
      select from pg_stat_activity
      where datname = current_database() and state = 'idle' and query like 'select pg_try_advisory_lock%'
        and not exists (select from pg_locks where pg_locks.pid = pg_stat_activity.pid and locktype = 'advisory')`;
    const isPolled = async () => (await polling.execute(db)).rows.length > 0;
    while (!(await Promise.race([second.then(() => true), isPolled()])));
    await writer.end();
    await Promise.all([first, second]);
    expect(await relations()).toEqual(['public.item', 'public.kysely_migration']);
  });

  test('lets an older release read, write and start, however long it waits for a transaction', async () => {
    await migrate(options(), released);
    const writer = await startWriter();
    const migrated = migrate(options(), indexed);
    await writer.waiting();
    await sql`set lock_timeout = '100ms'`.execute(db);
    await sql`insert into item values ('Finished')`.execute(db);
    await sql`update item set status = 'Doing'`.execute(db);
    await sql`select from item where status = 'Doing'`.execute(db);
    await migrate(options(), released);
    expect(await pendingMigrations(db, indexed)).toEqual(['0002_item_status']);
    await writer.end();
    await migrated;
    expect(await pendingMigrations(db, indexed)).toEqual([]);
  });

  test('takes the place of the invalid one that the end of a session has left', async () => {
    await migrate(options(), released);
    const writer = await startWriter();
    const creating = expect(migrate(options(), indexed)).rejects.toThrow('terminating connection due to administrator');
    await sql`select pg_terminate_backend(${await writer.waiting()})`.execute(db);
    await creating;
    expect(await relations()).toContain('public.item_status!');
    await writer.end();
    await migrate(options(), indexed);
    expect(await relations()).toContain('public.item_status');
  });

  test('is kept where it is valid, although its migration was not recorded', async () => {
    await migrate(options(), released);
    await sql`create index item_status on item (status)`.execute(db);
    const oid = () => sql`select 'item_status'::regclass::oid`.execute(db);
    const { rows } = await oid();
    await migrate(options(), indexed);
    expect((await oid()).rows).toEqual(rows);
    expect(await pendingMigrations(db, indexed)).toEqual([]);
  });

  test('reports duplicates, and does not stay where it would refuse rows', async () => {
    const unique = { ...released, '0002_item_status': { ...status, unique: true } };
    await migrate(options(), released);
    await sql`insert into item values ('Doing'), ('Doing')`.execute(db);
    await expect(migrate(options(), unique)).rejects.toMatchObject({ code: '23505' });
    expect(await relations()).toEqual(['public.item', 'public.kysely_migration']);
    await sql`delete from item`.execute(db);
    await migrate(options(), unique);
    expect(await relations()).toContain('public.item_status');
  });
});
