import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { sql } from 'kysely';
import { chunksAfter, inChunks, openDatabase, type LongList } from '../src/index.ts';

interface Tables {
  number: { id: number; even: boolean };
  page: { id: number; text: string };
}

let database: TestDatabase;
let db: ReturnType<typeof openDatabase<Tables>>;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase<Tables>({ url: database.url, poolMax: 1, onConnectionError: () => undefined });
  await sql`create table number as select id::bigint, id % 2 = 0 as even from generate_series(1, 5000) id order by random()`.execute(
    db,
  );
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const even = Array.from({ length: 2_500 }, (_, index) => 2 * (index + 1));
const evenNumbers = () => db.selectFrom('number').select('id').where('even', '=', sql.lit(true));

async function read(list: LongList<{ id: number }>) {
  const chunks = [list.rows];
  for (let more = await list.next?.(); more; more = await more.next?.()) chunks.push(more.rows);
  return { ids: chunks.flat().map(({ id }) => id), sizes: chunks.map((rows) => rows.length) };
}

test('A list has all rows of the query, sorted by id, in chunks of at most 250', async () => {
  const { ids, sizes } = await read(await inChunks(db, evenNumbers())());
  expect(ids).toEqual(even);
  // That there are no more shows only when they are asked for.
  expect(sizes).toEqual([...Array.from({ length: 10 }, () => 250), 0]);
});

test('Of rows with long texts, a chunk ends with the one that reaches 128 KiB', async () => {
  const lengths = [100_000, 100_000, 1_000_000, 500_000, ...Array.from({ length: 251 }, () => 1), 200_000, 1];
  await sql`create table page as
    select id, repeat('é', length / 2) as text from unnest(${lengths}::integer[]) with ordinality as given (length, id)`.execute(
    db,
  );
  const list = inChunks(db, db.selectFrom('page').select(['id', 'text']), 'text');
  const { ids, sizes } = await read(await list());
  expect(ids).toEqual(lengths.map((_, index) => index + 1));
  expect(sizes).toEqual([2, 1, 1, 250, 2, 1]);
});

test.each([10, 250, 251, 1_000, 2_500, Infinity])(
  'A list that goes on from its first chunk ends after %d rows, if there are so many',
  async (limit) => {
    const first = await evenNumbers().orderBy('id').limit(Math.min(limit, 250)).execute();
    const { ids, sizes } = await read(chunksAfter(db, evenNumbers())(first, limit));
    expect(ids).toEqual(even.slice(0, limit));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(250);
  },
);

test('A list that is complete with its first chunk asks the database for nothing more', async () => {
  const url = 'postgres://127.0.0.1:1/nobody-listens';
  const unreachable = openDatabase<Tables>({ url, poolMax: 1, onConnectionError: () => undefined });
  const first = await evenNumbers().orderBy('id').limit(250).execute();
  const { ids } = await read(chunksAfter(unreachable, evenNumbers())(first, 250));
  expect(ids).toEqual(even.slice(0, 250));
});
