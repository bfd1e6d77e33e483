import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { OverloadedError } from '@rest-services/errors';
import { createCaseless, type Database, type List } from '../src/index.ts';
import { Search } from '../src/rows/search.ts';
import { database, open } from './open-database.ts';
import { reportStatistics, rowsLookedAt, statementsDuring } from './statements.ts';

interface Book {
  id: number;
  title: string;
  text: string;
}

interface Tables {
  book: Book;
  young: Book;
}

const count = 20_000;

/** So far from the others that these are not among its neighbours. */
const farId = 100_077;

/** One connection, so that statements run in sequence and a sample is known after the first search. */
let db: Database<Tables>;
/** One connection without timeouts, because a busy machine would exceed them. */
let observer: Database<Tables>;
let withTitle: ReturnType<typeof search>;
beforeAll(async () => {
  observer = open({ purpose: 'migrations' });
  await sql`create extension pg_trgm`.execute(observer);
  await createCaseless(observer);
  await createTable('book');
  await sql`insert into book
    select n, 'About ' || left(md5(n::text), 6) || case n % 2500 when 7 then ' "50%_\\ off"' else '' end, ''
    from (select generate_series(1, ${sql.lit(count)}) union all select ${sql.lit(farId)}) as ids (n)`.execute(
    observer,
  );
  await sql`insert into book select n * 1000000, 'Sparse ' || n, '' from generate_series(1, 600) n`.execute(observer);
  // A search that finds this row takes longer than the statement timeout.
  await sql`create schema slow`.execute(observer);
  await sql`create view slow.book as select * from book
    where case when id = ${sql.lit(farId)} then pg_sleep(3) is not null else true end`.execute(observer);
  await sql`analyze book`.execute(observer);
});
beforeEach(async () => {
  db = open();
  withTitle = search('book');
  await titles(withTitle, 'About');
});

async function createTable(table: string) {
  await sql`create table ${sql.table(table)} (id bigint primary key, title text, text text)`.execute(observer);
  await sql`create index on ${sql.table(table)} using gin (fold_case(title) gin_trgm_ops)`.execute(observer);
}

const search = (table: 'book' | 'young', on: Database<unknown> = db as Database<unknown>) =>
  new Search<Book>(on, table, ['id', 'title', 'text'], { column: 'title', maxLength: 255, longText: 'text' });

async function titles(searching: ReturnType<typeof search>, text: string) {
  const found: string[] = [];
  let list: List<Book> | undefined = await searching.readMatches(text);
  for (; list; list = await list.next?.()) found.push(...list.rows.map(({ title }) => title));
  return found;
}

/** Parts of the titles of these books, which few others have. */
const hashes = (ids: number[]) => ids.map((id) => hash('md5', `${id}`).slice(0, 6));

describe('Searches of one iteration of the event loop', () => {
  test('share a statement, eight of them or all that are equal', async () => {
    const texts = hashes(Array.from({ length: 64 }, (_, index) => index + 100));
    const searched = () => Promise.all(texts.map((text) => titles(withTitle, text)));
    expect(await statementsDuring(searched)).toBe(8);
    expect(await searched()).toEqual(texts.map((text) => [`About ${text}`]));

    const theSame = () => Promise.all(texts.map(() => titles(withTitle, texts[0]!)));
    expect(await statementsDuring(theSame)).toBe(1);
  });

  test('find what a statement of their own would find, whatever they search for', async () => {
    const pieces = ['About ', 'ABOUT', 'off', '50%', '%', '_', '\\', '"', "'", ' ', 'a', '12', 'é'];
    const piece = fc.oneof(fc.constantFrom(...pieces), fc.stringMatching(/^[\da-f]{2,4}$/));
    const texts = fc.array(
      fc.array(piece, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
      { minLength: 1, maxLength: 20 },
    );
    const all = await observer.kysely.selectFrom('book').select('title').orderBy('id').execute();
    await fc.assert(
      fc.asyncProperty(texts, async (asked) => {
        const expected = asked.map((text) =>
          all.map(({ title }) => title).filter((title) => title.toLowerCase().includes(text.toLowerCase())),
        );
        expect(await Promise.all(asked.map((text) => titles(withTitle, text)))).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  test('succeed while one of them takes too long, which gets 503', async () => {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c search_path=slow,public');
    const slow = search('book', open({ url: url.href }));
    await slow.readMatches('About');
    const texts = hashes([76, 78, farId]);
    const outcomes = await Promise.allSettled(texts.map((text) => titles(slow, text)));
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: [`About ${texts[0]}`] },
      { status: 'fulfilled', value: [`About ${texts[1]}`] },
      { status: 'rejected', reason: expect.any(OverloadedError) },
    ]);
  });
});

test('A text longer than any in the table is not searched for', async () => {
  let found: string[] = [];
  const searched = async () => (found = await titles(withTitle, '😀'.repeat(256)));
  expect(await statementsDuring(searched)).toBe(0);
  expect(found).toEqual([]);
  expect(await statementsDuring(() => titles(withTitle, '😀'.repeat(255)))).toBeGreaterThan(0);
});

test('Searches use a fifth of the connections, and end with 503 when their time has passed', async () => {
  const wide = open<unknown>({ poolMax: 10 });
  const books = search('book', wide);
  await books.readMatches('About');
  while (wide.poolUse.inUse > 0) await setImmediate();
  const outcomes = await observer.kysely.transaction().execute(async (transaction) => {
    await sql`lock table book in access exclusive mode`.execute(transaction);
    const settled = Promise.allSettled(Array.from({ length: 20 }, (_, n) => books.readMatches(`x${n}`)));
    while (wide.poolUse.inUse < 2) await setImmediate();
    await sql`select`.execute(wide);
    expect(wide.poolUse).toMatchObject({ inUse: 2, waiting: 0 });
    return settled;
  });
  const overloaded = { status: 'rejected', reason: expect.any(OverloadedError) };
  expect(outcomes).toEqual(outcomes.map(() => overloaded));
});

test.each(['zz o', 'qq', ' zq'])(
  'a search for "%s", which no text contains, uses the index where it can',
  async (text) => {
    await reportStatistics(observer);
    const before = await rowsLookedAt(db, 'book');
    expect(await titles(withTitle, text)).toEqual([]);
    // Two letters alone have no trigrams.
    const maximum = text === 'qq' ? 2 * count : 1_000;
    expect((await rowsLookedAt(db, 'book')) - before).toBeLessThan(maximum);
  },
);

test('What many texts contain is found by reading only the first of them', async () => {
  // Its session has read the whole table for other tests, and reports that some time.
  await reportStatistics(observer);
  const before = await rowsLookedAt(db, 'book');
  const { rows } = await withTitle.readMatches('aBOUT');
  expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 250 }, (_, index) => index + 1));
  expect((await rowsLookedAt(db, 'book')) - before).toBeLessThan(1_000);
});

test.each(['About', '7', 'ab7', 'abc', 'Sparse'])(
  'All texts that contain "%s" are found by few looks at each row, though without statistics',
  async (text) => {
    await sql`delete from pg_statistic where starelid = 'book'::regclass`.execute(observer);
    await reportStatistics(observer);
    try {
      const before = await rowsLookedAt(db, 'book');
      const { length } = await titles(withTitle, text);
      expect((await rowsLookedAt(db, 'book')) - before).toBeLessThan(3 * count + length);
    } finally {
      await sql`analyze book`.execute(observer);
    }
  },
);

test('A rare text is found by the index, even if the table was small when it was planned', async () => {
  await createTable('young');
  await sql`insert into young select * from book where id <= 20; analyze young`.execute(observer);
  const young = search('young');
  await titles(young, 'About');
  for (let use = 0; use < 10; use += 1) await titles(young, 'no such title');
  await sql`insert into young select * from book where id > 20`.execute(observer);
  const texts = hashes([1_000, 19_000]);
  const before = await rowsLookedAt(db, 'young');
  expect(await Promise.all(texts.map((text) => titles(young, text)))).toEqual(texts.map((text) => [`About ${text}`]));
  expect((await rowsLookedAt(db, 'young')) - before).toBeLessThan(100);
});
