import { afterEach, beforeAll, afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { sql, type RawBuilder } from 'kysely';
import pg from 'pg';
import type { Value } from '../src/connection/session.ts';
import { Database } from '../src/index.ts';
import { prepared } from '../src/connection/statement.ts';

interface Tables {
  thing: { id: number; name: string | null; at: string | null };
}

let database: TestDatabase;
/** One connection, so that a statement meets what earlier ones have left. */
let db: Database<Tables>;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  db = new Database<Tables>({ url: database.url, poolMax: 1, onConnectionError: () => undefined });
  await sql`create table thing (id bigint primary key, name varchar(10), at timestamptz)`.execute(db);
});
afterEach(async () => {
  await sql`drop table thing`.execute(db);
  await db.destroy();
});

const prepareRows = <Row>(statement: RawBuilder<Row>) => {
  const run = prepare(statement);
  return async (...values: Value[]) => (await run(...values)).rows;
};
const prepare = <Row>(statement: RawBuilder<Row>) => {
  const text = prepared(statement);
  return (...values: Value[]) => db.write(text, values);
};
const insert = () => prepareRows(sql`insert into thing values (${null}, ${null}, ${null}) returning id, name`);
const read = () => prepareRows(sql<Tables['thing']>`select id, name, at from thing where id >= ${0}`);

/** Number of statements that the server parses during `work`. */
async function parsedDuring(work: () => Promise<unknown>) {
  const emit = jest.spyOn(pg.Connection.prototype, 'emit');
  try {
    await work();
    return emit.mock.calls.filter(([event]) => event === 'parseComplete').length;
  } finally {
    emit.mockRestore();
  }
}

describe('A prepared statement', () => {
  test('takes texts, numbers and null, and returns rows as an ordinary one does', async () => {
    const create = insert();
    for (const [id, name] of [
      [1, 'a'],
      [2, 'ü\'"\\🎉'],
      [3, ''],
      [4, null],
      [5, undefined],
    ] as const) {
      expect(await create(id, name, '2026-11-20T18:30:00Z')).toEqual([{ id, name: name ?? null }]);
    }
    const { rows } = await sql`select id, name, at from thing where id >= 2`.execute(db);
    expect(await read()(2)).toEqual(rows);
    expect(rows).toHaveLength(4);
    expect(await read()(6)).toEqual([]);
  });

  test('that returns no rows tells how many it has changed', async () => {
    const rename = prepare(sql`update thing set name = ${''} where id < ${0}`);
    for (const id of [1, 2, 3]) await insert()(id, null, null);
    for (const id of [1, 2, 4]) expect((await rename('new', id)).rowCount).toBe(id - 1);
  });

  test('is prepared once for each connection', async () => {
    const rename = prepare(sql`update thing set name = ${''} where id = ${0}`);
    const use = async () => {
      await read()(1);
      await rename('a', 1);
    };
    expect(await parsedDuring(use)).toBe(2);
    expect(await parsedDuring(use)).toBe(0);
    const [client] = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db).then(({ rows }) => rows);
    await sql`select pg_terminate_backend(${client!.pid})`.execute(db).catch(() => undefined);
    expect(await parsedDuring(use)).toBe(2);
    expect(await parsedDuring(use)).toBe(0);
  });

  test('can be used again when its first execution has failed', async () => {
    const create = insert();
    await expect(create(1, 'far too long', null)).rejects.toMatchObject({ code: '22001' });
    await expect(create('one', 'a', null)).rejects.toMatchObject({ code: '22P02' });
    expect(await create(1, 'a', null)).toEqual([{ id: 1, name: 'a' }]);
    await expect(create(1, 'b', null)).rejects.toMatchObject({ code: '23505' });
    expect(await create(2, 'b', null)).toEqual([{ id: 2, name: 'b' }]);
  });

  test('fails by itself when a value can not be read', async () => {
    await insert()(1, 'a', 'infinity');
    await insert()(2, 'b', '2026-11-20T18:30:00Z');
    await expect(read()(1)).rejects.toThrow();
    expect(await read()(2)).toEqual([{ id: 2, name: 'b', at: '2026-11-20T18:30:00.000Z' }]);
  });
});
