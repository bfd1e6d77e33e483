import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ReusedKeyError } from '@rest-services/errors';
import { sql, type Generated } from 'kysely';
import { Type, type TUnsafe } from 'typebox';
import { createIdempotencyKeys, Repository, type Database } from '../src/index.ts';
import { open } from './open-database.ts';
import { rowsLookedAt, statementsDuring } from './statements.ts';

interface Note {
  id: Generated<number>;
  title: string;
}

type EveryType = ReturnType<typeof rowOf>;

interface Tables {
  note: Note;
  task: Note;
  every_type: EveryType & { id: Generated<number> };
}

/** Has one session, because `rowsLookedAt` counts the rows of that, without timeouts, because a busy machine would exceed them. */
let db: Database<Tables>;
beforeAll(async () => {
  db = open({ purpose: 'migrations' });
  for (const table of ['note', 'task'])
    await sql`create table ${sql.table(table)} (
      id bigint generated always as identity primary key, title varchar(20) not null)`.execute(db);
  await createIdempotencyKeys(db);
});
beforeEach(async () => {
  await sql`delete from idempotency_key`.execute(db);
});

const repositoryOf = (table: 'note' | 'task', at = db) =>
  new Repository(at, table, {
    row: Type.Object({ id: Type.Integer(), title: Type.String() }),
    insert: Type.Object({ title: Type.String() }),
    update: Type.Object({}),
    absent: 'kept',
  });
const countKeys = async () => {
  const { rows } = await sql<{ count: number }>`select count(*) from idempotency_key`.execute(db);
  return rows[0]!.count;
};
const title = 'Note';

describe('An insert with an idempotency key', () => {
  test('takes one statement; sent again, another one that finds the row', async () => {
    const notes = repositoryOf('note');
    const key = { key: 'a', request: '/notes' };
    const ids: number[] = [];
    const insert = async () => void ids.push(await notes.insert({ title }, key));
    expect([await statementsDuring(insert), await statementsDuring(insert)]).toEqual([1, 2]);
    expect(ids[1]).toBe(ids[0]);
  });

  test('fails when the key belongs to another request, for another table too', async () => {
    await repositoryOf('note').insert({ title }, { key: 'a', request: '/notes' });
    await expect(repositoryOf('task').insert({ title }, { key: 'a', request: '/tasks' })).rejects.toThrow(
      ReusedKeyError,
    );
  });

  test('deletes expired keys of a few pages after each 64, and reads no others', async () => {
    await sql`insert into idempotency_key (key, request, row_id, created_at)
      select sha256(n::text::bytea), '', n, now() - interval '25 hours' from generate_series(1, 20000) n`.execute(db);
    const notes = repositoryOf('note');
    const insert = (number: number) => notes.insert({ title }, { key: `new ${number}`, request: '/notes' });
    for (let n = 1; n < 64; n += 1) await insert(n);
    expect(await countKeys()).toBe(20_000 + 63);
    const before = await rowsLookedAt(db, 'idempotency_key');
    await insert(64);
    const deleted = 20_000 + 64 - (await countKeys());
    expect(deleted).toBeGreaterThan(0);
    // The count has read all rows once, the deletion at most eight pages.
    expect((await rowsLookedAt(db, 'idempotency_key')) - before).toBeLessThan(20_000 + 1_000);
  });
});

describe('Inserts at the same time', () => {
  test('share one statement, with keys and without, and each gets the id of its row', async () => {
    const notes = repositoryOf('note');
    const titles = ['b', 'a', 'b', 'c', 'a', 'b'];
    let ids: number[] = [];
    const insertAll = async () => {
      ids = await Promise.all(
        titles.map((each, n) => notes.insert({ title: each }, n % 2 ? { key: `${n}`, request: each } : undefined)),
      );
    };
    expect(await statementsDuring(insertAll)).toBe(1);
    const rows = await db.kysely.selectFrom('note').select(['id', 'title']).where('id', 'in', ids).execute();
    const titleOf = new Map(rows.map((row) => [row.id, row.title]));
    expect(ids.map((id) => titleOf.get(id))).toEqual(titles);
    expect(titleOf.size).toBe(titles.length);
    expect(await countKeys()).toBe(3);
    const again = [1, 3, 5].map((n) => notes.insert({ title: titles[n]! }, { key: `${n}`, request: titles[n]! }));
    expect(await Promise.all([notes.insert({ title: 'new' }), ...again])).toEqual([
      expect.any(Number),
      ...[1, 3, 5].map((n) => ids[n]),
    ]);
    expect(await countKeys()).toBe(3);
  });

  test('with one key insert one row; those of another request fail alone', async () => {
    const notes = repositoryOf('note');
    const requests = ['a', 'a', 'b', 'a', 'b'];
    const outcomes = await Promise.allSettled([
      ...requests.map((request) => notes.insert({ title: request }, { key: 'key', request })),
      notes.insert({ title: 'other' }),
    ]);
    const [first, ...others] = outcomes;
    const reused = { status: 'rejected', reason: expect.any(ReusedKeyError) };
    expect(first).toMatchObject({ status: 'fulfilled' });
    expect(others).toEqual([first, reused, first, reused, { status: 'fulfilled', value: expect.any(Number) }]);
    expect(outcomes[5]).not.toEqual(first);
    expect(await countKeys()).toBe(1);
  });

  test('at two processes, of rows whose expired keys are next to each other, all succeed', async () => {
    const repositories = [1, 2].map(() => repositoryOf('note', open({ poolMax: 4 })));
    const keys = Array.from({ length: 12 }, (_, n) => `key ${n}`);
    for (let round = 0; round < 40; round += 1) {
      await sql`update idempotency_key set created_at = created_at - interval '25 hours'`.execute(db);
      const inserted = keys.flatMap((key, n) => [
        repositories[n % 2]!.insert({ title }, { key, request: `${round}` }),
        repositories[(n + 1) % 2]!.insert({ title }, { key, request: `${round}` }),
      ]);
      const ids = await Promise.all(inserted);
      expect(new Set(ids).size).toBe(keys.length);
    }
  });

  test('fail with words that say setval where rows were loaded with ids of their own', async () => {
    const tasks = repositoryOf('task');
    const next = await tasks.insert({ title });
    await sql`insert into task (id, title) overriding system value
      select n, 'loaded' from generate_series(${next + 1}::int, ${next + 20}::int) n`.execute(db);
    const outcomes = await Promise.allSettled([
      tasks.insert({ title }),
      tasks.insert({ title }, { key: 'loaded', request: '' }),
    ]);
    const reason: unknown = expect.objectContaining({
      code: 'SEQUENCE_BEHIND',
      message: expect.stringMatching('setval'),
    });
    expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason })));
    await sql`select setval(pg_get_serial_sequence('task', 'id'), (select max(id) from task))`.execute(db);
    expect(await tasks.insert({ title })).toBe(next + 21);
  });

  test('get the ids of their rows whatever types the columns have', async () => {
    await sql`create table every_type (
      id bigint generated always as identity primary key, text text, char char(8), varchar varchar(8), uuid uuid,
      small smallint, big bigint, real real, double double precision, numeric numeric(12, 4), boolean boolean,
      at timestamptz, local timestamp, day date, time time, span interval, json jsonb, list text[], bytes bytea)`.execute(
      db,
    );
    const columns = Object.fromEntries(Object.keys(rowOf(0)).map((name) => [name, Type.Unsafe({})])) as {
      [Name in keyof EveryType]: TUnsafe<EveryType[Name]>;
    };
    const all = new Repository(db, 'every_type', {
      row: Type.Object({ id: Type.Integer(), ...columns }),
      insert: Type.Object(columns),
      update: Type.Object({}),
      absent: 'kept',
    });
    const ids = await Promise.all(Array.from({ length: 12 }, (_, n) => all.insert(rowOf(n % 5))));
    expect(new Set(ids).size).toBe(12);
    const one = await all.insert(rowOf(7));
    const { rows } = await sql<{ id: number; big: number; json: object }>`
      select id, big, json from every_type order by id`.execute(db);
    const bigOf = new Map(rows.map(({ id, big, json }) => [id, [big, json]]));
    expect(ids.map((id) => bigOf.get(id))).toEqual(ids.map((_, n) => [n % 5, { n: [n % 5, { a: null }] }]));
    expect(bigOf.get(one)).toEqual([7, { n: [7, { a: null }] }]);
  });
});

function rowOf(n: number) {
  return {
    ...{ text: `text ${n}`, char: `c${n}`, varchar: `v${n}`, uuid: `00000000-0000-4000-8000-00000000000${n}` },
    ...{ small: n, big: n, real: n + 0.1, double: n / 3, numeric: n + 0.5, boolean: n % 2 === 0 },
    ...{ at: `2026-11-2${n}T18:30:00.000Z`, local: `2026-11-2${n} 18:30`, day: `2026-11-2${n}`, time: `18:3${n}` },
    ...{ span: `${n} days`, json: { n: [n, { a: null }] }, list: ['a', `${n}`], bytes: `\\x0${n}` },
  };
}
