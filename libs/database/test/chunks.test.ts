import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { sql } from 'kysely';
import { inChunks, openDatabase } from '../src/index.ts';

interface Tables {
  number: { id: number; even: boolean };
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

async function idsOf(page: { offset: number; limit: number }) {
  const ids: number[] = [];
  const sizes: number[] = [];
  for await (const rows of inChunks(db.selectFrom('number').selectAll().where('even', '=', true), page)) {
    ids.push(...rows.map(({ id }) => id));
    sizes.push(rows.length);
  }
  return { ids, sizes };
}

test.each([
  [0, 10],
  [0, 250],
  [0, 251],
  [0, 1_000],
  [700, 1_500],
  [0, 2_500],
  [0, Number.MAX_SAFE_INTEGER],
  [2_499, 5],
  [2_500, 5],
  [Number.MAX_SAFE_INTEGER, 1],
])('offset %i and limit %i give the rows that the query has there, sorted by id', async (offset, limit) => {
  const even = Array.from({ length: 2_500 }, (_, index) => 2 * (index + 1));
  const { ids, sizes } = await idsOf({ offset, limit });
  expect(ids).toEqual(even.slice(offset, offset + limit));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(250);
});
