import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { createRowCounts, Repository } from '../src/index.ts';
import { create, id, notes, observer, type Tables } from './note-table.ts';
import { open } from './open-database.ts';
import { rowsLookedAt } from './statements.ts';

// Statements that PostgreSQL plans once for each session.

const onlyTitle = {
  row: Type.Object({ id, title: Type.String() }),
  insert: Type.Object({ title: Type.String() }),
  update: Type.Object({ title: Type.String() }),
  absent: 'kept',
} as const;

test('A statement that was planned for an empty table uses the index when it has grown', async () => {
  const one = open<Tables>();
  // Of so wide a row PostgreSQL expects few, so that it would rather read all of them.
  await sql`create table fresh (id bigint generated always as identity primary key, title varchar(1000))`.execute(one);
  const fresh = new Repository(one, 'fresh', onlyTitle);
  const useAll = async (ids: number[]) => [
    await Promise.all(ids.map((id) => fresh.findById(id))),
    await Promise.all(ids.map((id) => fresh.update(id, { title: 'new' }))),
    await Promise.all(ids.map((id) => fresh.delete(id))),
  ];
  for (let use = 0; use < 10; use += 1) await useAll([1, 2]);
  await sql`insert into fresh (title) select n::text from generate_series(1, 20000) n`.execute(one);
  const before = await rowsLookedAt(one, 'fresh');
  for (let id = 1; id <= 20; id += 2) {
    const rows = [id, id + 1].map((each) => ({ id: each, title: `${each}` }));
    expect(await useAll([id, id + 1])).toEqual([rows, [true, true], [true, true]]);
  }
  expect((await rowsLookedAt(one, 'fresh')) - before).toBeLessThan(1_000);
});

test('A session prepares a statement once, and plans it once for all values', async () => {
  const one = open<Tables>();
  await sql`create table counted (id bigint generated always as identity primary key, title text)`.execute(one);
  await one.kysely.transaction().execute((transaction) => createRowCounts(transaction, { table: 'counted' }));
  await sql`insert into counted (title) select n::text from generate_series(1, 20000) n`.execute(one);
  await sql`analyze counted`.execute(one);

  const counted = new Repository(one, 'counted', onlyTitle);
  for (let use = 1; use <= 10; use += 1) {
    await counted.findById(use);
    await counted.page({ offset: 0, limit: 1 });
    await counted.page({ offset: use * 1000, limit: 1 });
    for (const together of [1, 2]) {
      const ids = await Promise.all(Array.from({ length: together }, () => counted.insert({ title: 'new' })));
      await Promise.all(ids.map((id) => counted.update(id, { title: 'other' })));
      await Promise.all(ids.map((id) => counted.delete(id)));
    }
  }
  const { rows } = await sql`
    select generic_plans >= 10 as "isReused", custom_plans as custom from pg_prepared_statements`.execute(one);
  expect(rows).toEqual(Array(9).fill({ isReused: true, custom: 0 }));
});

test('A statement goes on after migrations that add a column or change the type of one', async () => {
  const id = await create('a');
  await sql`alter table note add column more text`.execute(observer);
  expect(await notes.findById(id)).toEqual({ id, title: 'a', rank: 1 });
  await sql`alter table note alter column title type text`.execute(observer);
  for (let use = 0; use < 4; use += 1) expect(await notes.findById(id)).toEqual({ id, title: 'a', rank: 1 });
});
