import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { createRowCounts, recountRows } from '../src/index.ts';
import { newConnection, counts, db, expectExact, fold, insert, newTable, taskCounts, waiting } from './task-table.ts';

describe('Counts and pages', () => {
  test('of rows that were there before, or are written meanwhile, are exact', async () => {
    await newTable();
    await sql`insert into task (status)
      select case when n % 3 = 0 then 'done' else 'open' end from generate_series(1, 40_000) n`.execute(db);
    const writing = await newConnection().startTransaction().execute();
    await insert(writing, 100_001, 3, 1);
    const counting = db.transaction().execute((transaction) => createRowCounts(transaction, taskCounts));
    while (!(await waiting('relation', writing)));
    await writing.commit().execute();
    await counting;
    expect(await counts()).toEqual({ total: 40_003, done: 13_334 });
    await expectExact(db, [511, 512, 16_383, 16_384, 32_769, 40_001]);
  });

  test('of ids far apart, up to the largest that JavaScript holds, are exact', async () => {
    await insert(db, -3, 5, 1);
    await insert(db, 500, 60, 511);
    await insert(db, 100_000, 60, 16_385);
    await insert(db, 2_000_000, 60, 524_289);
    await insert(db, 2 ** 40, 20, 2 ** 41);
    await insert(db, Number.MAX_SAFE_INTEGER - 99, 100, 1);
    await expectExact(
      db,
      Array.from({ length: 305 }, (_, offset) => offset),
    );
  });

  test('have what a transaction commits after later changes were folded in part', async () => {
    const late = await newConnection().startTransaction().execute();
    for (let n = 1; n <= 20; n += 1) await insert(late, n * 1_000, 1, 1);
    for (const id of [100_000, 200_000]) {
      await insert(db, id, 1, 1);
      await fold(db, 5);
    }
    await late.commit().execute();
    while ((await fold(db, 5)) > 0) await expectExact(db);
    expect(await counts()).toMatchObject({ total: 22 });
  });

  test('follow an update of all rows by one change for each block of ids', async () => {
    await insert(db, 1, 2_000, 1);
    while ((await fold()) > 0);
    await sql`update task set status = 'done'`.execute(db);
    await sql`update task set status = 'done'`.execute(db);
    const { rows } = await sql`select from task_count_change`.execute(db);
    expect([rows.length, await counts()]).toEqual([4, { total: 2_000, done: 2_000 }]);
    await expectExact(db);
  });

  test('are those of one moment, whatever others commit while the statement runs', async () => {
    await insert(db, 1, 100, 1);
    const reader = newConnection();
    await sql`select pg_advisory_lock(7)`.execute(db);
    // What a select lists is computed from left to right.
    const reading = sql`
      select total, pg_advisory_xact_lock(7)::text as waited, task_id_at(60) as id,
        (select id from task order by id offset 60 limit 1) as wanted
      from task_count`.execute(reader);
    while (!(await waiting())) await counts();
    await sql`delete from task where id <= 50`.execute(db);
    await sql`select pg_advisory_unlock(7)`.execute(db);
    expect((await reading).rows).toEqual([{ total: 100, waited: '', id: 61, wanted: 61 }]);
  });
});

describe('Writers', () => {
  test('do not wait for each other, nor for a fold or a recount', async () => {
    const writers = Array.from({ length: 40 }, newConnection);
    for (const writer of writers) {
      await sql`begin`.execute(writer);
      await sql`insert into task default values`.execute(writer);
    }
    await insert(db, 1_000, 10, 1);
    const [folding, recounting] = [newConnection(), newConnection()];
    await sql`begin`.execute(folding);
    expect(await fold(folding)).toBe(1);
    await insert(db, 2_000, 10, 1);
    expect(await fold()).toBe(0);
    await sql`commit`.execute(folding);
    await sql`begin`.execute(recounting);
    await recountRows(recounting, taskCounts);
    await insert(db, 3_000, 10, 1);
    await sql`commit`.execute(recounting);
    expect(await counts()).toEqual({ total: 30, done: 15 });
    for (const writer of writers) await sql`commit`.execute(writer);
    expect(await counts()).toEqual({ total: 70, done: 15 });
    await expectExact(db);
  });

  test('can use any search_path', async () => {
    const other = newConnection();
    await sql`set search_path = ''`.execute(other);
    await sql`insert into public.task (status) values ('open'), ('done')`.execute(other);
    await sql`update public.task set status = 'done'`.execute(other);
    await sql`delete from public.task where id = 1`.execute(other);
    const { rows } = await sql`select public.task_id_at(0) as id, * from public.task_count`.execute(other);
    expect(rows).toEqual([{ id: 2, total: 1, done: 1 }]);
    await sql`truncate public.task`.execute(other);
    expect(await counts()).toEqual({ total: 0, done: 0 });
  });
});

describe('Rows that change without triggers', () => {
  test.each([
    ['loaded', sql`insert into task (id) overriding system value values (25)`],
    ['loaded where none were', sql`insert into task (id) overriding system value values (900_000)`],
    ['deleted', sql`delete from task where id = 7_001`],
    ['changed', sql`update task set status = 'done' where id = 1`],
    ['totals are lost', sql`delete from task_count_total`],
    ['blocks are lost', sql`delete from task_count_block`],
    ['changes are lost', sql`delete from task_count_change`],
  ])('are counted by a recount: %s', async (_, statement) => {
    await insert(db, 1, 1_000, 50);
    await fold();
    await insert(db, 60_000, 10, 1);
    const loading = newConnection();
    await sql`set session_replication_role = replica`.execute(loading);
    await statement.execute(loading);
    await expect(expectExact(db, [999, 1_009])).rejects.toThrow();
    await recountRows(db, taskCounts);
    await expectExact(db, [500, 999, 1_009]);
    await insert(db, 70_000, 10, 1);
    await fold();
    await expectExact(db, [500]);
  });
});

describe('The tables of the counts', () => {
  const sizes = sql`select (select count(*)::int from task_count_block) as blocks,
    (select count(*)::int from task_count_change) as changes, (select count(*)::int from task_count_total) as totals`;

  test('have no rows for blocks that have none', async () => {
    await insert(db, 1, 2_000, 600);
    await fold();
    await sql`delete from task where id > 1_000`.execute(db);
    await fold();
    expect((await sizes.execute(db)).rows).toEqual([{ blocks: 4, changes: 0, totals: 1 }]);
  });

  const notSkipped = async () => {
    const { rows } = await sql<{ changes: number }>`
      select last_value - folded as changes from task_count_total, task_count_change_number_seq`.execute(db);
    return rows[0]!.changes;
  };

  test('are not read as far as old snapshots keep what was folded', async () => {
    const old = newConnection();
    await old
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (snapshot) => {
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
