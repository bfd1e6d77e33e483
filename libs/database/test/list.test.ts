import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { createRowCounts, Repository, type List } from '../src/index.ts';
import { database, open, openConnected } from './open-database.ts';
import { statementsDuring } from './measure.ts';

const db = await openConnected();
await sql`create table number as
  select id::bigint, id % 2 = 0 as even from generate_series(1, 3000) id order by random()`.execute(db);
await sql`alter table number add primary key (id)`.execute(db);
await createRowCounts(db, { table: 'number' });

const onlyRead = { insert: Type.Object({}), update: Type.Object({}), absent: 'kept' } as const;
const numberRepository = (table: string, on = db) =>
  new Repository(on, table, { row: Type.Object({ id: Type.Integer(), even: Type.Boolean() }), ...onlyRead });
const numbers = numberRepository('number');

async function read(list: List<{ id: number }>) {
  const chunks = [list.rows];
  for (let more = await list.next?.(); more; more = await more.next?.()) chunks.push(more.rows);
  return { ids: chunks.flat().map(({ id }) => id), sizes: chunks.map((rows) => rows.length) };
}

test('A list has all rows of the query, sorted by id, in chunks of at most 250', async () => {
  const { ids, sizes } = await read(await numbers.list({ even: true }));
  expect(ids).toEqual(Array.from({ length: 1_500 }, (_, index) => 2 * (index + 1)));
  // That there are no more shows only when they are asked for.
  expect(sizes).toEqual([250, 250, 250, 250, 250, 250, 0]);
});

test.each([
  [250, 1],
  [251, 2],
  [1_000, 4],
  [10_000, 12],
])('A page of %d rows is read by %d statements, however many it may have', async (limit, statements) => {
  const reading = async () => {
    const { ids } = await read(await numbers.page({ offset: 100, limit }));
    expect(ids).toEqual(Array.from({ length: Math.min(limit, 2_900) }, (_, index) => 101 + index));
  };
  expect(await statementsDuring(reading)).toBe(statements);
});
test('The first chunk of up to 50,000 rows has a version of the list, which each change makes another one', async () => {
  await sql`create table long as select id::bigint, true as even from generate_series(1, 50000) id`.execute(db);
  const list = numberRepository('long');
  const versions: (string | undefined)[] = [];
  const readVersion = async () => versions.push((await list.list()).version);
  expect(await statementsDuring(readVersion)).toBe(1);
  for (const change of [
    sql`update long set even = true where id = 40000`,
    sql`delete from long where id = 40000`,
    sql`insert into long values (50001, false)`,
  ]) {
    await change.execute(db);
    await readVersion();
  }
  expect(new Set(versions).size).toBe(4);
  expect(versions).toEqual(versions.map(() => expect.any(String)));
  const elsewhere = open({ readsFrom: { url: database.url } });
  expect(await numberRepository('long', elsewhere).list()).toMatchObject({ rows: { length: 250 }, version: undefined });
  await sql`insert into long values (50002, false)`.execute(db);
  expect(await list.list()).not.toHaveProperty('version', expect.anything());
});

test('Of rows with long texts, a chunk ends with the one that reaches 128 KiB', async () => {
  const lengths = [100_000, 100_000, 1_000_000, 500_000, ...Array.from({ length: 251 }, () => 1), 200_000, 1];
  await sql`create table page as select id, repeat('é', length / 2) as text
    from unnest(${lengths}::integer[]) with ordinality as given (length, id)`.execute(db);
  const row = Type.Object({ id: Type.Integer(), text: Type.String() });
  const pages = new Repository(db, 'page', { row, longText: 'text', ...onlyRead });
  const { ids, sizes } = await read(await pages.list());
  expect(ids).toEqual(lengths.map((_, index) => index + 1));
  expect(sizes).toEqual([2, 1, 1, 250, 2, 1]);
});
