import { isDeepStrictEqual } from 'node:util';
import { beforeEach, expect, test } from '@jest/globals';
import { ReusedKeyError } from '@rest-services/errors';
import { sql } from 'kysely';
import { createIdempotencyKeys, type Database } from '../src/index.ts';
import { noteRepository, outcome, someoneWaits, whileHolding, type Tables } from './note-table.ts';
import { open, openConnected } from './open-database.ts';
import { rowsLookedAt, statementsDuring } from './measure.ts';

/** Has one session, because `rowsLookedAt` counts the rows of that, without timeouts, because a busy machine would exceed them. */
let db: Database<Tables>;
let notes: ReturnType<typeof noteRepository>;
beforeEach(async () => {
  db = open({ purpose: 'migrations' });
  notes = noteRepository(db);
  await sql`drop table if exists idempotency_key`.execute(db);
  await createIdempotencyKeys(db);
});

const insert = (title: string, key?: string, request = '/notes') =>
  notes.insert({ title, rank: 1 }, key === undefined ? undefined : { key, request });
const countKeys = async () => {
  const { rows } = await sql<{ count: number }>`select count(*) from idempotency_key`.execute(db);
  return rows[0]!.count;
};

test('An insert with a key takes one statement; sent again, another one that finds the row', async () => {
  const ids: number[] = [];
  const send = async () => void ids.push(await insert('a', 'key'));
  expect([await statementsDuring(send), await statementsDuring(send)]).toEqual([1, 2]);
  expect(ids[1]).toBe(ids[0]);
  await expect(insert('b', 'key', '/others')).rejects.toThrow(ReusedKeyError);
});

test('Inserts at once, with keys and without, share one statement, and each gets the id of its row', async () => {
  const titles = ['f', 'a', 'e', 'b', 'd', 'c'];
  const insertAll = () => Promise.all(titles.map((title, n) => insert(title, n % 2 ? title : undefined)));
  let ids: number[] = [];
  expect(await statementsDuring(async () => (ids = await insertAll()))).toBe(1);
  const rows = await db.kysely.selectFrom('note').select(['id', 'title']).execute();
  const titleOf = new Map(rows.map(({ id, title }) => [id, title]));
  expect(ids.map((id) => titleOf.get(id))).toEqual(titles);
  const again = await Promise.all([insert('g'), ...['a', 'b', 'c'].map((title) => insert(title, title))]);
  expect(again.slice(1)).toEqual([ids[1], ids[3], ids[5]]);
  expect([titleOf.size, await countKeys()]).toEqual([6, 3]);
});

test('Inserts at once whose keys have expired replace them, in two processes, too', async () => {
  const keys = Array.from({ length: 12 }, (_, n) => `${n}`);
  const pools = await Promise.all([1, 2].map(() => openConnected<Tables>({ poolMax: 4 })));
  const both = pools.map(noteRepository);
  for (let round = 0; round < 5; round += 1) {
    await sql`update idempotency_key set created_at = created_at - interval '25 hours'`.execute(db);
    const request = `${round}`;
    const inserted = keys.flatMap((key) =>
      both.map((each) => each.insert({ title: `${key} in ${round}`, rank: 1 }, { key, request })),
    );
    expect(new Set(await Promise.all(inserted)).size).toBe(keys.length);
  }
  expect(await countKeys()).toBe(keys.length);
  // Waits for deletions of expired keys.
  await Promise.all(pools.map((each) => each.destroy()));
});

test('Expired keys of some pages are deleted after each 64 inserts with a key, and no others are read', async () => {
  await sql`insert into idempotency_key (key, request, row_id, created_at)
    select sha256(n::text::bytea), '', n, now() - interval '25 hours' from generate_series(1, 40000) n`.execute(db);
  for (let n = 1; n < 64; n += 1) await insert(`${n}`, `new ${n}`);
  expect(await countKeys()).toBe(40_000 + 63);
  const before = await rowsLookedAt(db, 'idempotency_key');
  for (let n = 64; n <= 64 * 5; n += 1) await insert(`${n}`, `new ${n}`);
  expect(await countKeys()).toBeLessThan(40_000 + 64 * 5);
  // The count reads all rows once, and five deletions read some 800 of them each, by chance more or less.
  expect((await rowsLookedAt(db, 'idempotency_key')) - before).toBeLessThan(40_000 + 5 * 3_000);
});

test('A key sent twice at once, to two processes, makes one row while locks hold up changes', async () => {
  const pools = await Promise.all([1, 2].map(() => openConnected<Tables>({ poolMax: 4 })));
  const [one, other] = pools.map(noteRepository) as [typeof notes, typeof notes];
  const locked = await Promise.all(['a', 'b', 'c'].map((title) => insert(title)));
  await sql`create function be_slow() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.02); return new; end $$`.execute(db);
  await sql`create trigger slow before insert on note for each row execute function be_slow()`.execute(db);
  await whileHolding(sql`select from note for update`, async () => {
    // As many as may wait, and one.
    const changes = locked.map((id) => outcome(other.update(id, { rank: 2 })));
    await someoneWaits(2);
    for (const key of ['first', 'second', 'third']) {
      const insertBoth = [one, other].map((each) => each.insert({ title: key, rank: 1 }, { key, request: '/notes' }));
      const outcomes = await Promise.all(insertBoth.map(outcome));
      // On a busy machine, one may have waited for too long.
      const made = outcomes.filter((each) => !isDeepStrictEqual(each, { code: undefined }));
      expect(made).toEqual(made.map(() => ({ value: expect.any(Number) })));
      expect(new Set(made.map((each) => 'value' in each && each.value)).size).toBeLessThan(2);
    }
    return { changes };
  });
});
