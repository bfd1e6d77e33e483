import { beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { Repository, type Database, type List } from '../src/index.ts';
import { createReadChunk, listOf } from '../src/rows/reads/list.ts';
import { database, open } from './open-database.ts';
import { statementsDuring } from './statements.ts';

interface Tables {
  number: { id: number; even: boolean };
  page: { id: number; text: string };
}

let db: Database<Tables>;
beforeAll(async () => {
  db = open();
  await sql`create table number as select id::bigint, id % 2 = 0 as even from generate_series(1, 5000) id order by random()`.execute(
    db,
  );
});

const even = Array.from({ length: 2_500 }, (_, index) => 2 * (index + 1));
const firstChunk = (limit: number) =>
  db.kysely
    .selectFrom('number')
    .select('id')
    .where('even', '=', true)
    .orderBy('id')
    .limit(Math.min(limit, 250))
    .execute();
const evenNumbers = (on = db) => createReadChunk<{ id: number }>(on, 'number', ['id'], [sql`even`]);
const onlyRead = { insert: Type.Object({}), update: Type.Object({}), absent: 'kept' } as const;
const Numbers = Type.Object({ id: Type.Integer(), even: Type.Boolean() });

async function read(list: List<{ id: number }>) {
  const chunks = [list.rows];
  for (let more = await list.next?.(); more; more = await more.next?.()) chunks.push(more.rows);
  return { ids: chunks.flat().map(({ id }) => id), sizes: chunks.map((rows) => rows.length) };
}

test('A list has all rows of the query, sorted by id, in chunks of at most 250', async () => {
  const { ids, sizes } = await read(
    await new Repository(db, 'number', { row: Numbers, ...onlyRead }).list({ even: true }),
  );
  expect(ids).toEqual(even);
  // That there are no more shows only when they are asked for.
  expect(sizes).toEqual([...Array.from({ length: 10 }, () => 250), 0]);
});

test('The first chunk of up to 50,000 rows has a version of the list, which each change makes another one', async () => {
  await sql`create table long as select id::bigint, true as even from generate_series(1, 50000) id`.execute(db);
  const list = new Repository(db, 'long', { row: Numbers, ...onlyRead });
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
  const elsewhere = open<Tables>({ readsFrom: { url: database.url } });
  const late = await new Repository(elsewhere, 'long', { row: Numbers, ...onlyRead }).list();
  expect(late).toMatchObject({ rows: { length: 250 }, version: undefined });
  await sql`insert into long values (50002, false)`.execute(db);
  expect(await list.list()).not.toHaveProperty('version', expect.anything());
});

test('Of rows with long texts, a chunk ends with the one that reaches 128 KiB', async () => {
  const lengths = [100_000, 100_000, 1_000_000, 500_000, ...Array.from({ length: 251 }, () => 1), 200_000, 1];
  await sql`create table page as
    select id, repeat('é', length / 2) as text from unnest(${lengths}::integer[]) with ordinality as given (length, id)`.execute(
    db,
  );
  const pages = new Repository(db, 'page', {
    row: Type.Object({ id: Type.Integer(), text: Type.String() }),
    longText: 'text',
    ...onlyRead,
  });
  const { ids, sizes } = await read(await pages.list());
  expect(ids).toEqual(lengths.map((_, index) => index + 1));
  expect(sizes).toEqual([2, 1, 1, 250, 2, 1]);
});

test.each([10, 250, 251, 1_000, 2_500, Infinity])(
  'A list that goes on from its first chunk ends after %d rows, if there are so many',
  async (limit) => {
    const first = await firstChunk(limit);
    const { ids, sizes } = await read(listOf(first, evenNumbers(), limit));
    expect(ids).toEqual(even.slice(0, limit));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(250);
  },
);

test('A list that is complete with its first chunk asks the database for nothing more', async () => {
  const unreachable = open<Tables>({ url: 'postgres://127.0.0.1:1/nobody-listens' });
  const first = await firstChunk(250);
  const { ids } = await read(listOf(first, evenNumbers(unreachable), 250));
  expect(ids).toEqual(even.slice(0, 250));
});
