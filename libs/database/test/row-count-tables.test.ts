import { describe, expect, test } from '@jest/globals';
import { sql, type Kysely } from 'kysely';
import { createRowCounts, recountRows } from '../src/index.ts';
import {
  anotherConnection,
  areExact,
  counts,
  createCounts,
  db,
  expectExact,
  fold,
  insert,
  newTable,
  taskCounts,
  waiting,
  type Tables,
} from './task-table.ts';

describe('The counts', () => {
  test('of the release that updated them are exact after the migration to this one', async () => {
    await newTable();
    await sql.raw(UPDATED_COUNTS).execute(db);
    await insert(db, 1, 1_500, 3);
    await createCounts();
    await expectExact(db);
    await insert(db, 4_600, 700, 3);
    await sql`update task set status = 'done' where id % 2 = 0`.execute(db);
    await sql`delete from task where id % 7 = 0`.execute(db);
    await expectExact(db, [1_199, 1_200, 1_600]);
  });

  test('of the release that folded all changes at once are exact after the migration to this one', async () => {
    await newTable();
    await db.transaction().execute((transaction) => createRowCounts(transaction, taskCounts));
    await insert(db, 1, 1_500, 3);
    const before = await counts();
    await createCounts();
    expect(await counts()).toEqual(before);
    await sql`update task set status = 'done'`.execute(db);
    // As the release before folds: 9 blocks of ids with rows, and 9 with updates.
    expect((await sql`select task_count_fold() as folded`.execute(db)).rows).toEqual([{ folded: 18 }]);
    await expectExact(db);
    expect(await areExact()).toBe(true);
  });

  test('are read while a migration waits for a reader, without a deadlock', async () => {
    await insert(db, 1, 5, 1);
    const [reader, asking] = [anotherConnection(), anotherConnection()];
    const { migrated, read } = await anotherConnection()
      .transaction()
      .execute(async (slow) => {
        await sql`select from task_count_total, task_count`.execute(slow);
        const migrated = createCounts();
        while ((await waiting('relation', asking)) < 1);
        const read = counts(reader);
        while ((await waiting('relation', asking)) < 2);
        return { migrated, read };
      });
    expect(await Promise.all([read, migrated])).toEqual([{ total: 5, done: 2 }, undefined]);
  });
});

describe('Rows that change without triggers', () => {
  test.each([
    ['loaded', sql`insert into task (id) overriding system value values (25)`],
    ['loaded where none were', sql`insert into task (id) overriding system value values (900_000)`],
    ['deleted', sql`delete from task where id = 7_001`],
    ['changed', sql`update task set status = 'done' where id = 1`],
    ['counted by totals that are lost', sql`delete from task_count_total`],
    ['counted by blocks that are lost', sql`delete from task_count_block`],
    ['counted by changes that are lost', sql`delete from task_count_change`],
  ])('are found when they are %s, and counted by a recount', async (_, statement) => {
    await insert(db, 1, 1_000, 50);
    await fold();
    await insert(db, 60_000, 10, 1);
    expect(await areExact()).toBe(true);
    const loading = anotherConnection();
    await sql`set session_replication_role = replica`.execute(loading);
    await statement.execute(loading);
    expect(await areExact()).toBe(false);
    await recountRows(db, taskCounts);
    expect(await areExact()).toBe(true);
    await insert(db, 70_000, 10, 1);
    await fold();
    await expectExact(db, [500]);
  });
});

describe('The tables of the counts', () => {
  const rowsOf = async (name: string) =>
    (await sql<{ rows: number }>`select count(*)::int as rows from ${sql.table(name)}`.execute(db)).rows[0]!.rows;

  test('have no rows for blocks that have none', async () => {
    await insert(db, 1, 2_000, 600);
    await fold();
    expect(await rowsOf('task_count_block')).toBeGreaterThan(2_000);
    await sql`delete from task where id > 1_000`.execute(db);
    await fold();
    expect(await rowsOf('task_count_block')).toBe(4);
    expect(await rowsOf('task_count_change')).toBe(0);
    expect(await rowsOf('task_count_total')).toBe(1);
  });

  const notSkipped = async () => {
    const { rows } = await sql<{ changes: number }>`
      select (select last_value from task_count_change_number_seq) - folded as changes from task_count_total`.execute(
      db,
    );
    return rows[0]!.changes;
  };

  test('are not read as far as old snapshots keep what was folded', async () => {
    const old = anotherConnection();
    await old
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (snapshot: Kysely<Tables>) => {
        await counts(snapshot);
        for (let turn = 0; turn < 30; turn += 1) {
          await insert(db, 10_001 + turn * 1_000, 100, 1);
          await sql`delete from task where id % 2 = 0`.execute(db);
          await fold();
        }
        const { rows } = await sql<Record<string, string>>`
          explain (analyze, buffers off, costs off, timing off, summary off) select * from task_count`.execute(db);
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        expect(plan).toMatch(/Index Cond: \(number > COALESCE/);
        // All but the last folds, as soon as older transactions of other databases have ended, too.
        while ((await notSkipped()) >= 10) {
          await sql`insert into task default values`.execute(db);
          await fold();
        }
        expect(await counts(snapshot)).toEqual({ total: 0, done: 0 });
      });
  });
});

test('A table without a filter has its total', async () => {
  await sql`create table note (id bigint primary key, text text)`.execute(db);
  await createCounts({ table: 'note' });
  await sql`insert into note values (3, 'a'), (9, 'b')`.execute(db);
  await sql`update note set text = 'c'`.execute(db);
  expect(
    (await sql`select total, note_id_at(1) as second, note_id_at(2) as third from note_count`.execute(db)).rows,
  ).toEqual([{ total: 2, second: 9, third: null }]);
});

/** What the first release made: triggers update counts, in tables that no later release has. */
const UPDATED_COUNTS = `
  create table task_slot_count (slot smallint primary key, total bigint not null, done bigint not null);
  create table task_block_count (level smallint, block bigint, slot smallint, total integer not null);
  create view task_count as
    select coalesce(sum(total), 0)::bigint as total, coalesce(sum(done), 0)::bigint as done from task_slot_count;
  create function task_id_at(target bigint) returns bigint language sql stable as 'select id from task_block_count, task';
  create function task_count_insert() returns trigger language plpgsql as $$ begin
    insert into task_slot_count values (0, 1, 0) on conflict (slot) do update set total = task_slot_count.total + 1;
    return null;
  end $$;
  create function task_count_update() returns trigger language plpgsql as 'begin return null; end';
  create trigger task_count_insert after insert on task for each row execute function task_count_insert();
  create trigger task_count_update after update on task for each statement execute function task_count_update();`;
