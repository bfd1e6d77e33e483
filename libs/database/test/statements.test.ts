import { expect, test } from '@jest/globals';
import { OverloadedError } from '@rest-services/errors';
import { sql } from 'kysely';
import { createRowCounts, Repository } from '../src/index.ts';
import { allNotes, create, db, noteRepository, notes, observer, texts, type Tables } from './note-table.ts';
import { open, openConnected } from './open-database.ts';
import { rowsLookedAt, statementsDuring } from './measure.ts';

// Statements that requests of one iteration of the event loop share, and that PostgreSQL plans once for each session.

test('Reads, updates and deletes of many rows take one statement each', async () => {
  const ids = await Promise.all(Array.from({ length: 50 }, (_, n) => create(`${n}`)));
  for (const share of [
    () => Promise.all(ids.slice(0, 32).map((id) => notes.findById(id))),
    () => Promise.all(ids.map((id) => notes.update(id, { rank: id }))),
    () => Promise.all(ids.map((id) => notes.delete(id))),
  ]) {
    expect(await statementsDuring(share)).toBe(1);
  }
});

test('Texts above 16 KiB are read alone, because together they would take too much memory', async () => {
  const lengths = [1, 16_384, 16_385, 1_000_000, 0];
  await sql`create table page as select id, repeat('x', length) as text
    from unnest(${lengths}::integer[]) with ordinality as given (length, id)`.execute(db);
  const pages = new Repository(db, 'page', { ...texts, longText: 'text' });
  const readAll = (ids: number[]) => Promise.all(ids.map((id) => pages.findById(id)));
  expect((await readAll([5, 4, 3, 2, 1, 6])).map((page) => page?.text.length)).toEqual([
    ...lengths.toReversed(),
    undefined,
  ]);
  const reading = (id: number) => statementsDuring(() => readAll(Array<number>(30).fill(id)));
  expect(await reading(2)).toBe(1);
  expect(await reading(3)).toBe(31);
});

test.each([
  [4_096, 1],
  [4_097, 3],
])('Three texts of %d characters are written by %d statements', async (length, statements) => {
  await sql`create table if not exists essay (id bigserial primary key, text text)`.execute(db);
  const essays = new Repository(db, 'essay', texts);
  const written = ['a', 'b', 'c'].map((letter) => letter.repeat(length));
  let ids: number[] = [];
  const insertAll = async () => (ids = await Promise.all(written.map((text) => essays.insert({ text }))));
  const updateAll = () => Promise.all(written.map((text, index) => essays.update(ids[index]!, { text })));
  expect([await statementsDuring(insertAll), await statementsDuring(updateAll)]).toEqual([statements, statements]);
});

test('Reads of texts above 16 KiB take three connections, and get 503 when they take too long', async () => {
  await sql`create view slow as select 3 as id, repeat('x', 20000) as text from pg_sleep(1.6)`.execute(db);
  const patient = open<Tables>({ poolMax: 4, purpose: 'migrations' });
  const slow = new Repository(patient, 'slow', { ...texts, longText: 'text' });
  const sent = await statementsDuring(async () => {
    const outcomes = Promise.allSettled(Array.from({ length: 5 }, () => slow.findById(3)));
    const refused = { status: 'rejected', reason: expect.any(OverloadedError) };
    expect(await outcomes).toEqual(Array(5).fill(refused));
    expect(patient.poolUse).toMatchObject({ inUse: 3, waiting: 0 });
    // The turn of the other two comes while this read waits, but no request would use their rows.
    await slow.findById(3).catch(() => undefined);
  });
  expect(sent).toBe(1 + 3 + 2);
});

test('Two processes that change different columns of the same rows lose no update', async () => {
  const other = noteRepository(observer);
  const ids = await Promise.all(Array.from({ length: 12 }, (_, n) => create(`${n}`)));
  for (let round = 2; round < 52; round += 1) {
    const titles = ids.map((id) => notes.update(id, { title: `${id} in ${round}` }));
    const ranks = ids.toReversed().map((id) => other.update(id, { rank: round }));
    expect(new Set(await Promise.all([...titles, ...ranks]))).toEqual(new Set([true]));
    expect(await allNotes()).toEqual(
      ids.sort((a, b) => a - b).map((id) => ({ id, title: `${id} in ${round}`, rank: round })),
    );
  }
});

test('A statement that was planned for an empty table uses the index when it has grown', async () => {
  const one = await openConnected<Tables>();
  // Of so wide a row PostgreSQL expects few, so that it would rather read all of them.
  await sql`create table fresh (id bigint generated always as identity primary key, text varchar(1000))`.execute(one);
  const fresh = new Repository(one, 'fresh', texts);
  const useAll = async (ids: number[]) => [
    await Promise.all(ids.map((id) => fresh.findById(id))),
    await Promise.all(ids.map((id) => fresh.update(id, { text: 'new' }))),
    await Promise.all(ids.map((id) => fresh.delete(id))),
  ];
  for (let use = 0; use < 10; use += 1) await useAll([1, 2]);
  await sql`insert into fresh (text) select n::text from generate_series(1, 20000) n`.execute(one);
  const before = await rowsLookedAt(one, 'fresh');
  for (let id = 1; id <= 20; id += 2) {
    const rows = [id, id + 1].map((each) => ({ id: each, text: `${each}` }));
    expect(await useAll([id, id + 1])).toEqual([rows, [true, true], [true, true]]);
  }
  expect((await rowsLookedAt(one, 'fresh')) - before).toBeLessThan(1_000);
});

test('A session prepares a statement once, and plans it once for all values', async () => {
  const one = await openConnected<Tables>();
  await sql`create table counted (id bigint generated always as identity primary key, text text)`.execute(one);
  await one.kysely.transaction().execute((transaction) => createRowCounts(transaction, { table: 'counted' }));
  await sql`insert into counted (text) select n::text from generate_series(1, 20000) n`.execute(one);
  await sql`analyze counted`.execute(one);

  const counted = new Repository(one, 'counted', texts);
  for (let use = 1; use <= 10; use += 1) {
    await counted.findById(use);
    await counted.page({ offset: 0, limit: 1 });
    await counted.page({ offset: use * 1000, limit: 1 });
    for (const together of [1, 2]) {
      const ids = await Promise.all(Array.from({ length: together }, () => counted.insert({ text: 'new' })));
      await Promise.all(ids.map((id) => counted.update(id, { text: 'other' })));
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
