import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import fc from 'fast-check';
import { CompiledQuery, sql, type Generated, type Kysely } from 'kysely';
import {
  boundFolds,
  checkRowCounts,
  createRowCounts,
  foldRowCounts,
  Database,
  recountRows,
  sampleRowCounts,
  type RowCounts,
} from '../src/index.ts';
import type { Statement } from '../src/connection/statement.ts';
import { Pages } from '../src/rows/page.ts';

interface Tables {
  task: { id: Generated<number>; status: Generated<'open' | 'done'> };
  task_count: { total: number; done: number };
}

let database: TestDatabase;
let db: Kysely<Tables>;
const others: Kysely<Tables>[] = [];

/** One connection, on which the statements of a transaction can be sent one by one. */
const connection = () =>
  new Database<Tables>({ url: database.url, poolMax: 1, hasTimeouts: false, onConnectionError: () => undefined })
    .kysely;

function anotherConnection() {
  const other = connection();
  others.push(other);
  return other;
}

beforeAll(async () => {
  database = await createTestDatabase();
  db = connection();
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});
beforeEach(() => createTable());
afterEach(async () => {
  await Promise.all(others.splice(0).map((other) => other.destroy()));
  await dropEverything();
});

async function dropEverything() {
  await sql`drop schema public cascade`.execute(db);
  await sql`create schema public`.execute(db);
}

const newTable = () =>
  sql`create table task (
    id bigint primary key generated always as identity,
    status text not null default 'open'
  )`.execute(db);

const taskCounts: RowCounts = { table: 'task', filter: { name: 'done', column: 'status', value: 'done' } };

const createCounts = () =>
  db.transaction().execute(async (transaction) => {
    await createRowCounts(transaction, taskCounts);
    await boundFolds(transaction, taskCounts);
  });

async function createTable(rowsBefore = 0) {
  await newTable();
  await sql`insert into task (status)
    select case when n % 3 = 0 then 'done' else 'open' end from generate_series(1, ${rowsBefore}::int) n`.execute(db);
  await createCounts();
}

/** Rows whose ids are so far apart. */
const insert = (on: Kysely<Tables>, first: number, rows: number, step: number) =>
  sql`insert into task (id, status) overriding system value
    select ${first}::bigint + n * ${step}::bigint, case when n % 2 = 0 then 'open' else 'done' end
    from generate_series(0, ${rows - 1}::int) n`.execute(on);

const fold = (on = db, bound?: number) => foldRowCounts(on, taskCounts, bound);

/** Whether all counts are those of the rows, by the check that the services make in the background. */
async function areExact(on = db) {
  for (let after: number | undefined; ;) {
    const check = await checkRowCounts(on, taskCounts, after);
    if (!check) return true;
    if (!check.isExact) return false;
    after = check.block;
  }
}

const counts = (on = db) => on.selectFrom('task_count').select(['total', 'done']).executeTakeFirstOrThrow();

const tasks = (on: Kysely<Tables>) => on.selectFrom('task').select(['id', 'status']);

/** How many connections wait for a lock of this type that another one holds. */
async function waiting(type: 'advisory' | 'relation' = 'advisory', on = db) {
  const { rows } = await sql`select from pg_locks where locktype = ${type} and not granted
    and database = (select oid from pg_database where datname = current_database())`.execute(on);
  return rows.length;
}

/** Runs the statements of a repository in a transaction. */
const inTransaction = (transaction: Kysely<Tables>) =>
  Object.assign(transaction, {
    read: ({ text }: Statement<unknown>, values: unknown[]) =>
      transaction.executeQuery(CompiledQuery.raw(text, values)),
  }) as unknown as Database<unknown>;

/** Compares counts and pages with what reading the table gives, in one snapshot. */
async function expectExact(on: Kysely<Tables>, offsets: number[] = []) {
  await on
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (snapshot: Kysely<Tables>) => {
      const all = await tasks(snapshot).orderBy('id').execute();
      const total = all.length;
      const pages = new Pages<{ id: number; status: string }>(inTransaction(snapshot), 'task', ['id', 'status']);
      expect(await counts(snapshot)).toEqual({ total, done: all.filter(({ status }) => status === 'done').length });
      for (const offset of [0, 1, Math.floor(total / 2), total - 1, total, total + 1, ...offsets]) {
        if (offset < 0) continue;
        const page = await pages.readPage({ offset, limit: 7 });
        expect([offset, page.total, page.rows.map(({ id, status }) => ({ id, status }))]).toEqual([
          offset,
          total,
          all.slice(offset, offset + 7),
        ]);
      }
    });
}

describe('Counts and pages', () => {
  test('of rows that were there before are exact', async () => {
    await dropEverything();
    await createTable(40_000);
    expect(await counts()).toEqual({ total: 40_000, done: 13_333 });
    await expectExact(db, [511, 512, 16_383, 16_384, 32_769]);
  });

  test('of ids far apart, up to the largest that JavaScript holds, are exact', async () => {
    await insert(db, -3, 5, 1);
    await insert(db, 500, 60, 511);
    await insert(db, 100_000, 60, 16_385);
    await insert(db, 2_000_000, 60, 524_289);
    await insert(db, 2 ** 40, 20, 2 ** 41);
    await insert(db, Number.MAX_SAFE_INTEGER - 99, 100, 1);
    await expectExact(
      db,
      Array.from({ length: 305 }, (_, offset) => offset),
    );
  });

  test('are exact before, between and after blocks that some transactions have just begun', async () => {
    const [first, last] = [anotherConnection(), anotherConnection()];
    for (const writer of [first, last]) await sql`begin`.execute(writer);
    for (const times of [0, 1]) {
      await insert(first, 1 + times * 5, 5, 1);
      await insert(last, 20_000 + times * 5, 5, 1);
    }
    await insert(db, 1_000, 3_000, 4);
    await expectExact(db, [1_500, 2_990]);
    for (const writer of [first, last]) await sql`commit`.execute(writer);
    await expectExact(db, [5, 9, 10, 11, 522, 2_999, 3_009, 3_010]);
  });

  test('that begin while somebody else writes have what that one has written', async () => {
    await dropEverything();
    await newTable();
    let counting: Promise<void> | undefined;
    await anotherConnection()
      .transaction()
      .execute(async (writing: Kysely<Tables>) => {
        await insert(writing, 1, 3, 1);
        counting = createCounts();
        while (!(await waiting('relation', writing)));
      });
    await counting;
    await expectExact(db);
  });

  test('that an earlier release kept are exact after the migration to this one', async () => {
    await dropEverything();
    await newTable();
    await sql.raw(await readFile(new URL('released-row-counts.sql', import.meta.url), 'utf8')).execute(db);
    await insert(db, 1, 1_500, 3);
    await sql`delete from task where id % 5 = 0`.execute(db);
    await createCounts();
    await expectExact(db);
    await insert(db, 4_600, 700, 3);
    await insert(db, 6_701, 1, 1);
    await sql`update task set status = 'done' where id % 2 = 0`.execute(db);
    await sql`delete from task where id % 7 = 0`.execute(db);
    await expectExact(db, [1_199, 1_200, 1_600]);
    const before = await counts();
    await createCounts();
    expect(await counts()).toEqual(before);
    expect(await areExact()).toBe(true);
  });

  test.each(['task_count_total', 'task_slot_count'])(
    'are read while a migration waits for a reader of %s, without a deadlock',
    async (name) => {
      if (name === 'task_slot_count') {
        await dropEverything();
        await newTable();
        await sql.raw(await readFile(new URL('released-row-counts.sql', import.meta.url), 'utf8')).execute(db);
      }
      await insert(db, 1, 5, 1);
      const [reader, asking] = [anotherConnection(), anotherConnection()];
      const { migrated, read } = await anotherConnection()
        .transaction()
        .execute(async (slow) => {
          await sql`select from ${sql.table(name)}, task_count`.execute(slow);
          const migrated = createCounts();
          while ((await waiting('relation', asking)) < 1);
          const read = counts(reader);
          while ((await waiting('relation', asking)) < 2);
          return { migrated, read };
        });
      expect(await Promise.all([read, migrated])).toEqual([{ total: 5, done: 2 }, undefined]);
    },
  );

  test('have what a transaction commits after later changes were folded in part', async () => {
    const late = anotherConnection();
    await sql`begin`.execute(late);
    for (let n = 1; n <= 20; n += 1) await insert(late, n * 1_000, 1, 1);
    await insert(db, 100_000, 1, 1);
    await fold(db, 5);
    await sql`commit`.execute(late);
    while ((await fold(db, 5)) > 0) await expectExact(db);
    expect(await counts()).toMatchObject({ total: 21 });
  });

  test('follow an update of all rows by one change for each block of ids', async () => {
    await insert(db, 1, 2_000, 1);
    while ((await fold()) > 0);
    await sql`update task set status = 'done'`.execute(db);
    const { rows } = await sql`select from task_count_change`.execute(db);
    expect([rows.length, await counts()]).toEqual([4, { total: 2_000, done: 2_000 }]);
    await expectExact(db);
  });

  test('are those of one moment, whatever others commit while the statement runs', async () => {
    await insert(db, 1, 100, 1);
    const reader = anotherConnection();
    await sql`select pg_advisory_lock(7)`.execute(db);
    // What a select lists is computed from left to right.
    const reading = sql`
      select total, pg_advisory_xact_lock(7)::text as waited, task_id_at(60) as id,
        (select id from task order by id offset 60 limit 1) as wanted
      from task_count`.execute(reader);
    while (!(await waiting())) await counts();
    await sql`delete from task where id <= 50`.execute(db);
    await sql`select pg_advisory_unlock(7)`.execute(db);
    expect((await reading).rows).toEqual([{ total: 100, waited: '', id: 61, wanted: 61 }]);
  });

  test('are exact whatever several connections write, fold, recount, commit and roll back at any isolation level', async () => {
    const residue = fc.integer({ min: 0, max: 6 });
    const write = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ insert: fc.integer({ min: 1, max: 60 }), step: fc.constantFrom(1, 40, 700, 20_000) }),
      },
      { weight: 2, arbitrary: fc.record({ remove: residue }) },
      { weight: 2, arbitrary: fc.record({ toggle: residue }) },
      { weight: 2, arbitrary: fc.record({ generated: fc.integer({ min: 1, max: 600 }) }) },
      { weight: 1, arbitrary: fc.record({ savepoint: fc.constantFrom('rollback to', 'release') }) },
      { weight: 1, arbitrary: fc.constant({ truncate: true as const }) },
    );
    const transaction = fc.record({
      isolation: fc.constantFrom('read committed', 'read committed', 'repeatable read', 'serializable'),
      writes: fc.array(write, { minLength: 1, maxLength: 5 }),
      end: fc.constantFrom('commit', 'commit', 'rollback'),
    });
    const script = fc.array(transaction, { minLength: 1, maxLength: 4 });

    const writers = Array.from({ length: 4 }, anotherConnection);
    const [reader, folder] = [anotherConnection(), anotherConnection()];
    // A wait for a row that another connection has changed may be part of a circle.
    for (const each of [...writers, reader, folder]) await sql`set lock_timeout = '100ms'`.execute(each);
    // The last two: another connection has changed a row since the snapshot, or has taken an explicit id.
    const blocked = ['55P03', '40P01', '40001', '23505'];
    const unlessBlocked = (action: Promise<unknown>) =>
      action.catch((error: unknown) => {
        if (!blocked.includes((error as { code: string }).code)) throw error;
      });

    let nextId = 1;
    async function perform(on: Kysely<Tables>, step: typeof write extends fc.Arbitrary<infer Step> ? Step : never) {
      if ('insert' in step) {
        const first = nextId;
        nextId += step.insert * step.step;
        await insert(on, first, step.insert, step.step);
      } else if ('generated' in step) {
        await sql`insert into task (status)
          select case when n % 3 = 0 then 'done' else 'open' end from generate_series(1, ${step.generated}::int) n`.execute(
          on,
        );
      } else if ('remove' in step) await sql`delete from task where id % 7 = ${step.remove}`.execute(on);
      else if ('toggle' in step) {
        await sql`update task set status = case status when 'open' then 'done' else 'open' end where id % 7 = ${step.toggle}`.execute(
          on,
        );
      } else if ('savepoint' in step) {
        await sql`savepoint here`.execute(on);
        await insert(on, nextId++, 1, 1);
        await sql`update task set status = 'done' where id % 2 = 0`.execute(on);
        await sql`${sql.raw(step.savepoint)} savepoint here`.execute(on);
      } else await sql`truncate task`.execute(on);
    }
    async function run(
      on: Kysely<Tables>,
      transactions: typeof script extends fc.Arbitrary<infer Script> ? Script : never,
    ) {
      for (const { isolation, writes, end } of transactions) {
        await sql`begin isolation level ${sql.raw(isolation)}`.execute(on);
        try {
          for (const step of writes) await perform(on, step);
          await sql.raw(end).execute(on);
        } catch (error) {
          await sql`rollback`.execute(on);
          if (!blocked.includes((error as { code: string }).code)) throw error;
        }
      }
    }

    await fc.assert(
      fc.asyncProperty(fc.tuple(script, script, script, script), fc.array(fc.nat(2_000)), async (scripts, offsets) => {
        const finished = new Set<number>();
        const written = scripts.map((each, index) => run(writers[index]!, each).finally(() => finished.add(index)));
        const maintained = (async () => {
          for (let turn = 1; finished.size < scripts.length; turn += 1)
            // Most folds leave changes, so that some that are skipped for ever would be found.
            await unlessBlocked(
              turn % 5 === 0 ? recountRows(folder, taskCounts) : fold(folder, turn % 4 === 0 ? undefined : 3),
            );
        })();
        while (finished.size < scripts.length) {
          await unlessBlocked(expectExact(reader));
          await unlessBlocked(areExact(reader).then((exact) => expect(exact).toBe(true)));
        }
        await Promise.all([...written, maintained]);
        await expectExact(db, offsets);
        while ((await fold()) > 0);
        await expectExact(db, offsets);
        expect(await areExact()).toBe(true);
      }),
      { numRuns: 20 },
    );
  });
});

describe('Writers', () => {
  test('do not wait for each other, nor for a fold or a recount', async () => {
    const writers = Array.from({ length: 40 }, anotherConnection);
    for (const writer of writers) {
      await sql`begin`.execute(writer);
      await sql`insert into task default values`.execute(writer);
    }
    await insert(db, 1_000, 10, 1);
    const [folding, recounting] = [anotherConnection(), anotherConnection()];
    await sql`begin`.execute(folding);
    expect(await fold(folding)).toBe(1);
    await insert(db, 2_000, 10, 1);
    expect(await fold()).toBe(0);
    await sql`commit`.execute(folding);
    await sql`begin`.execute(recounting);
    await recountRows(recounting, taskCounts);
    await insert(db, 3_000, 10, 1);
    await sql`commit`.execute(recounting);
    expect(await counts()).toEqual({ total: 30, done: 15 });
    for (const writer of writers) await sql`commit`.execute(writer);
    expect(await counts()).toEqual({ total: 70, done: 15 });
    await expectExact(db);
    expect(await areExact()).toBe(true);
  });

  test('can use any search_path', async () => {
    const other = anotherConnection();
    await sql`set search_path = ''`.execute(other);
    await sql`insert into public.task (status) values ('open'), ('done')`.execute(other);
    await sql`update public.task set status = 'done'`.execute(other);
    await sql`delete from public.task where id = 1`.execute(other);
    const { rows } = await sql`select public.task_id_at(0) as id, * from public.task_count`.execute(other);
    expect(rows).toEqual([{ id: 2, total: 1, done: 1 }]);
    await sql`truncate public.task`.execute(other);
    expect(await counts()).toEqual({ total: 0, done: 0 });
  });

  test('cannot change an id, by which rows are counted', async () => {
    await sql`insert into task default values`.execute(db);
    await expect(sql`update task set id = default`.execute(db)).rejects.toThrow(/^The id of a row never changes/);
  });
});

describe('Rows that are loaded without triggers', () => {
  const loadWithoutTriggers = async (first: number, rows: number, step: number) => {
    const loading = anotherConnection();
    await sql`set session_replication_role = replica`.execute(loading);
    await insert(loading, first, rows, step);
  };

  test('are found, and counted by a recount', async () => {
    await insert(db, 1, 1_000, 50);
    await fold();
    expect(await areExact()).toBe(true);
    await loadWithoutTriggers(25, 1, 1);
    expect(await areExact()).toBe(false);
    await recountRows(db, taskCounts);
    expect(await areExact()).toBe(true);
    await expectExact(db, [500]);
  });

  test.each([
    ['deleted', sql`delete from task where id = 7_001`],
    ['changed', sql`update task set status = 'done' where id = 1`],
    ['put where none were', sql`insert into task (id) overriding system value values (900_000)`],
  ])('are found when they are %s', async (_, statement) => {
    await insert(db, 1, 1_000, 50);
    await fold();
    const loading = anotherConnection();
    await sql`set session_replication_role = replica`.execute(loading);
    await statement.execute(loading);
    expect(await areExact()).toBe(false);
  });

  test.each(['task_count_total', 'task_count_block', 'task_count_change'])(
    'are found when %s was not restored',
    async (name) => {
      await insert(db, 1, 1_000, 50);
      await fold();
      await insert(db, 60_000, 10, 1);
      await sql`delete from ${sql.table(name)}`.execute(db);
      expect(await areExact()).toBe(false);
      await recountRows(db, taskCounts);
      await expectExact(db, [500]);
      expect(await areExact()).toBe(true);
      await insert(db, 70_000, 10, 1);
      await fold();
      await expectExact(db, [500]);
    },
  );

  test('while nobody counts them are found in a sample of ten million ids', async () => {
    await loadWithoutTriggers(1, 5_000, 2_000);
    expect((await sampleRowCounts(db, taskCounts)).filter(({ isExact }) => !isExact).length).toBeGreaterThan(5);
    await recountRows(db, taskCounts);
    expect((await sampleRowCounts(db, taskCounts)).filter(({ isExact }) => !isExact)).toEqual([]);
  });
});

describe('The tables of the counts', () => {
  const rowsOf = async (name: string) =>
    (await sql<{ rows: number }>`select count(*)::int as rows from ${sql.table(name)}`.execute(db)).rows[0]!.rows;

  test('have no rows for blocks that have none', async () => {
    await insert(db, 1, 2_000, 600);
    await fold();
    expect(await rowsOf('task_count_block')).toBeGreaterThan(2_000);
    await sql`delete from task where id > 1_000`.execute(db);
    await fold();
    expect(await rowsOf('task_count_block')).toBe(4);
    expect(await rowsOf('task_count_change')).toBe(0);
    expect(await rowsOf('task_count_total')).toBe(1);
  });

  const notSkipped = async () => {
    const { rows } = await sql<{ changes: number }>`
      select (select last_value from task_count_change_number_seq) - folded as changes from task_count_total`.execute(
      db,
    );
    return rows[0]!.changes;
  };

  test('are not read as far as old snapshots keep what was folded', async () => {
    const old = anotherConnection();
    await old
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (snapshot: Kysely<Tables>) => {
        await counts(snapshot);
        for (let turn = 0; turn < 30; turn += 1) {
          await insert(db, 10_001 + turn * 1_000, 100, 1);
          await sql`delete from task where id % 2 = 0`.execute(db);
          await fold();
        }
        const { rows } = await sql<Record<string, string>>`
          explain (analyze, buffers off, costs off, timing off, summary off) select * from task_count`.execute(db);
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        expect(plan).toMatch(/Index Cond: \(number > COALESCE/);
        // All but the last folds, as soon as older transactions of other databases have ended, too.
        while ((await notSkipped()) >= 10) {
          await sql`insert into task default values`.execute(db);
          await fold();
        }
        expect(await counts(snapshot)).toEqual({ total: 0, done: 0 });
      });
  });
});

test('A table without a filter has its total', async () => {
  await sql`create table note (id bigint primary key, text text)`.execute(db);
  const noteCounts = { table: 'note' };
  await db.transaction().execute((transaction) => createRowCounts(transaction, noteCounts));
  await sql`insert into note values (3, 'a'), (9, 'b')`.execute(db);
  await sql`update note set text = 'c'`.execute(db);
  expect(
    (await sql`select total, note_id_at(1) as second, note_id_at(2) as third from note_count`.execute(db)).rows,
  ).toEqual([{ total: 2, second: 9, third: null }]);
});
