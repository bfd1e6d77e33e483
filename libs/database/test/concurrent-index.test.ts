import { beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { migrate, pendingMigrations, type Migrations } from '../src/index.ts';
import { indexed, released } from './index-creator.ts';
import { db, options, othersWait, startProgram, until, waitingFor } from './migrating.ts';
import { connectPatiently } from './patient.ts';

const unique: Migrations = {
  ...released,
  '0002_item_status': { createIndexConcurrently: 'item_status', on: 'item', definition: sql`(status)`, unique: true },
};

beforeEach(async () => {
  await migrate(options(), released);
});

test('creates an index once when eight processes start at the same moment', async () => {
  const writer = await startWriter();
  const applied: string[] = [];
  const migrated = Promise.all(
    Array.from({ length: 8 }, () => migrate({ ...options(), onApplied: (name) => applied.push(name) }, indexed)),
  );
  await Promise.race([migrated, Promise.all([creatorWaits(writer), othersWait(7)])]);
  await writer.end();
  await migrated;
  expect(applied).toEqual(['0002_item_status']);
  expect(await indexes()).toEqual([{ name: 'public.item_status', isValid: true }]);
});

test('creates no index again that another process has dropped in a later migration', async () => {
  const migrations: Migrations = {
    ...indexed,
    '0003_drop': { up: (db) => db.schema.dropIndex('item_status').execute() },
  };
  const writer = await startWriter();
  const first = migrate(options(), migrations);
  await creatorWaits(writer);
  const second = migrate(options(), migrations);
  await othersWait(1);
  await writer.end();
  await Promise.all([first, second]);
  expect(await indexes()).toEqual([]);
});

test('lets an older release read, write and start, however long it waits for a transaction', async () => {
  const writer = await startWriter();
  const migrated = migrate(options(), indexed);
  await creatorWaits(writer);
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

test('replaces the invalid index that a killed process has left', async () => {
  const writer = await startWriter();
  const creator = startProgram('index-creator.ts');
  await creatorWaits(writer);
  creator.kill('SIGKILL');
  await until(async () => (await waitingFor(writer.pid)).length === 0);
  expect(await indexes()).toEqual([{ name: 'public.item_status', isValid: false }]);
  await writer.end();
  await migrate(options(), indexed);
  expect(await indexes()).toEqual([{ name: 'public.item_status', isValid: true }]);
});

test('reports duplicates, and leaves no index that refuses rows', async () => {
  await sql`insert into item values ('Doing'), ('Doing')`.execute(db);
  await expect(migrate(options(), unique)).rejects.toMatchObject({ code: '23505' });
  expect(await indexes()).toEqual([]);
  await sql`delete from item`.execute(db);
  await migrate(options(), unique);
  expect(await indexes()).toEqual([{ name: 'public.item_status', isValid: true }]);
});

test('keeps a valid index whose migration was not recorded', async () => {
  await sql`create index item_status on item (status)`.execute(db);
  const oid = () => sql`select 'item_status'::regclass::oid`.execute(db);
  const { rows } = await oid();
  await migrate(options(), indexed);
  expect((await oid()).rows).toEqual(rows);
  expect(await pendingMigrations(db, indexed)).toEqual([]);
});

test('creates the index of a table beside one of the same name in another schema', async () => {
  await sql`create index item_status on item (status)`.execute(db);
  await sql`create schema app`.execute(db);
  await sql`create table app.kysely_migration (like kysely_migration including all)`.execute(db);
  await migrate({ ...options(), url: `${options().url}?options=-csearch_path=app,public` }, indexed);
  expect(await indexes()).toEqual([
    { name: 'app.item_status', isValid: true },
    { name: 'public.item_status', isValid: true },
  ]);
});

test('commits the migrations before an index, and records it before those after', async () => {
  const applied: string[] = [];
  const migrations: Migrations = {
    ...released,
    '0002_note': { up: (db) => db.schema.alterTable('item').addColumn('note', 'text').execute() },
    '0003_item_note': { createIndexConcurrently: 'item_note', on: 'item', definition: sql`(note)` },
    '0004_broken': { up: () => Promise.reject(new Error('no')) },
    '0005_item_status': { createIndexConcurrently: 'item_status', on: 'item', definition: sql`(status)` },
  };
  const report = {
    ...options(),
    onApplied: (name: string, ms: number) => applied.push(`${name} ${typeof ms}`),
  };
  await expect(migrate(report, migrations)).rejects.toThrow('no');
  expect(applied).toEqual(['0002_note number', '0003_item_note number']);
  expect(await pendingMigrations(db, migrations)).toEqual(['0004_broken', '0005_item_status']);
  await migrate(report, { ...migrations, '0004_broken': { up: () => Promise.resolve() } });
  expect(applied.slice(2)).toEqual(['0004_broken number', '0005_item_status number']);
});

/** A transaction that has written to the table, for whose end the index waits. */
async function startWriter() {
  const writing = connectPatiently(options().url);
  const transaction = await writing.startTransaction().execute();
  const { rows } = await sql<{ pid: number }>`
    insert into item values ('Writing') returning pg_backend_pid() as pid`.execute(transaction);
  const end = async () => {
    await transaction.commit().execute();
    await writing.destroy();
  };
  return { pid: rows[0]!.pid, end };
}

const creatorWaits = ({ pid }: { pid: number }) => until(async () => (await waitingFor(pid)).length > 0);

async function indexes() {
  const { rows } = await sql<{ name: string; isValid: boolean }>`
    select nspname || '.' || relname as name, indisvalid as "isValid"
    from pg_index join pg_class on pg_class.oid = indexrelid join pg_namespace on pg_namespace.oid = relnamespace
    where relname like 'item%' order by 1`.execute(db);
  return rows;
}
