import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { OverloadedError } from '@rest-services/errors';
import { migrate, searchIndex, type Database, type List } from '../src/index.ts';
import { createSearch } from '../src/rows/reads/search.ts';
import { database, openConnected, openPatient } from './open-database.ts';
import { reportStatistics, rowsLookedAt, statementsDuring } from './measure.ts';

interface Book {
  id: number;
  title: string;
  text: string;
}

const count = 20_000;

/** One connection, so that statements run in sequence, and the server counts all rows that they read. */
const db = await openConnected();
const observer = openPatient<{ book: Book }>();
await createTable('book');
await sql`insert into book
  select n, 'About ' || left(md5(n::text), 6) || case n % 2500 when 7 then ' "50%_\\ off"' else '' end, ''
  from generate_series(1, ${sql.lit(count)}) n`.execute(observer);
await sql`insert into book select n * 1000000, 'Sparse ' || n, '' from generate_series(1, 600) n`.execute(observer);
await sql`vacuum analyze book`.execute(observer);

async function createTable(table: string) {
  await sql`create table ${sql.table(table)} (id bigint primary key, title text, text text)`.execute(observer);
  const connection = { url: database.url, onConnectionError: () => undefined };
  await sql`drop table if exists kysely_migration`.execute(observer);
  await migrate(connection, { '0001_search': searchIndex(table, 'title') });
}

const search = (table: string, on: Database<unknown> = db) =>
  createSearch<Book>(on, table, ['id', 'title', 'text'], 'text');
const books = search('book');

async function titles(searching: ReturnType<typeof search>, text: string) {
  const found: string[] = [];
  let list: List<Book> | undefined = await searching(text);
  for (; list; list = await list.next?.()) found.push(...list.rows.map(({ title }) => title));
  return found;
}

/** Parts of the titles of these books, which few others have. */
const hashes = (ids: number[]) => ids.map((id) => hash('md5', `${id}`).slice(0, 6));

test('Searches for one text in one iteration of the event loop share a statement', async () => {
  const searched = () => Promise.all(Array.from({ length: 64 }, () => titles(books, hashes([100])[0]!)));
  expect(await statementsDuring(searched)).toBe(1);
});

test.each([
  ['rare', hashes([1_000])[0]!, 1_000],
  ['in no text', 'zz o', 1_000],
  ['in no text and of two letters, which have no trigram', 'qq', 2 * count],
  ['in all texts but of other ids', 'sparse', 2_000],
  ['of other characters', '"50%_\\ O', 3_000],
  ['common', 'aBOUT', 3 * count],
])('All texts that contain one that is %s are found by few looks at rows', async (_, text, maximum) => {
  const all = await observer.selectFrom('book').select('title').orderBy('id').execute();
  await reportStatistics(observer);
  const before = await rowsLookedAt(db, 'book');
  const containing = all.filter(({ title }) => title.toLowerCase().includes(text.toLowerCase()));
  expect(await titles(books, text)).toEqual(containing.map(({ title }) => title));
  expect((await rowsLookedAt(db, 'book')) - before).toBeLessThan(maximum);
});

test('What many texts contain is found by reading only the first of them', async () => {
  const before = await rowsLookedAt(db, 'book');
  expect((await books('aBOUT')).rows.map(({ id }) => id)).toEqual(Array.from({ length: 250 }, (_, index) => index + 1));
  expect((await rowsLookedAt(db, 'book')) - before).toBeLessThan(1_000);
});

test('A rare text is found by the index, even if the table was small when it was planned', async () => {
  await createTable('young');
  await sql`insert into young select * from book where id <= 20; analyze young`.execute(observer);
  const young = search('young');
  await titles(young, 'About');
  for (let use = 0; use < 10; use += 1) await titles(young, 'no such title');
  await sql`insert into young select * from book where id > 20`.execute(observer);
  // As autovacuum does some time; it would have the session plan again, too.
  await sql`select gin_clean_pending_list('young_search')`.execute(observer);
  const texts = hashes([1_000, 19_000]);
  const before = await rowsLookedAt(db, 'young');
  expect(await Promise.all(texts.map((text) => titles(young, text)))).toEqual(texts.map((text) => [`About ${text}`]));
  expect((await rowsLookedAt(db, 'young')) - before).toBeLessThan(100);
});

test('Searches use a fifth of the connections, and end with 503 when their time has passed', async () => {
  const wide = await openConnected({ poolMax: 10 });
  const books = search('book', wide);
  const outcomes = await observer.transaction().execute(async (transaction) => {
    await sql`lock table book in access exclusive mode`.execute(transaction);
    const settled = Promise.allSettled(Array.from({ length: 20 }, (_, n) => books(`x${n}`)));
    while (wide.poolUse.inUse < 2) await setImmediate();
    await sql`select`.execute(wide);
    expect(wide.poolUse).toMatchObject({ inUse: 2, waiting: 0 });
    return settled;
  });
  const refused = outcomes.map((outcome) => outcome.status === 'rejected' && (outcome.reason as Error));
  // PostgreSQL cancels the first two; the others wait for their turn.
  const isOverload = (error: unknown) =>
    error instanceof OverloadedError || (error as { code: string }).code === '57014';
  expect(refused.every(isOverload)).toBe(true);
});
