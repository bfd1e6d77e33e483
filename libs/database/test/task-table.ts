// What the files share that test row counts: a database of their own, in which each test finds the table `task`, counted and empty.
import { beforeEach, expect } from '@jest/globals';
import { sql, type Generated, type Kysely } from 'kysely';
import { createRowCounts, foldRowCounts, type RowCounts } from '../src/index.ts';
import { openPatient } from './open-database.ts';

export interface Tables {
  task: { id: Generated<number>; status: Generated<'open' | 'done'> };
  task_count: { total: number; done: number };
}

/** One connection, on which the statements of a transaction can be sent one by one. */
export const newConnection = () => openPatient<Tables>();

export const db = newConnection();
beforeEach(async () => {
  await newTable();
  await db.transaction().execute((transaction) => createRowCounts(transaction, taskCounts));
});

/** Makes the table without counts, instead of all that there was. */
export async function newTable() {
  await sql`drop schema public cascade`.execute(db);
  await sql`create schema public`.execute(db);
  await sql`create table task (
    id bigint primary key generated always as identity,
    status text not null default 'open'
  )`.execute(db);
}

export const taskCounts: RowCounts = { table: 'task', filter: { name: 'done', column: 'status', value: 'done' } };

/** Rows whose ids are so far apart. */
export const insert = (on: Kysely<Tables>, first: number, rows: number, step: number) =>
  sql`insert into task (id, status) overriding system value
    select ${first}::bigint + n * ${step}::bigint, case when n % 2 = 0 then 'open' else 'done' end
    from generate_series(0, ${rows - 1}::int) n`.execute(on);

export const fold = (on = db, bound?: number) => foldRowCounts(on, taskCounts, bound);

export const counts = (on = db) => on.selectFrom('task_count').select(['total', 'done']).executeTakeFirstOrThrow();

/** How many connections wait for a lock of this type that another one holds. */
export async function waiting(type: 'advisory' | 'relation' = 'advisory', on = db) {
  const { rows } = await sql`select from pg_locks where locktype = ${type} and not granted
    and database = (select oid from pg_database where datname = current_database())`.execute(on);
  return rows.length;
}

/** Compares counts and pages with what reading the table gives, in one snapshot. */
export async function expectExact(on: Kysely<Tables>, offsets: number[] = []) {
  await on
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (snapshot: Kysely<Tables>) => {
      const all = await snapshot.selectFrom('task').selectAll().orderBy('id').execute();
      const total = all.length;
      expect(await counts(snapshot)).toEqual({ total, done: all.filter(({ status }) => status === 'done').length });
      for (const offset of [0, 1, Math.floor(total / 2), total - 1, total, total + 1, ...offsets]) {
        if (offset < 0) continue;
        const { rows } = await sql`select array(select id from task
          where id >= (select task_id_at(${offset})) order by id limit 7)::text as ids`.execute(snapshot);
        const ids = all.slice(offset, offset + 7).map(({ id }) => id);
        expect([offset, rows]).toEqual([offset, [{ ids: `{${ids.join()}}` }]]);
      }
    });
}
