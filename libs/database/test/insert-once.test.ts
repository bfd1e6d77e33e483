import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ReusedKeyError } from '@rest-services/errors';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { sql, type Generated } from 'kysely';
import { createIdempotencyKeys, Database, repository } from '../src/index.ts';
import { rowsLookedAt, statementsDuring } from './statements.ts';

interface Note {
  id: Generated<number>;
  title: string;
}

let database: TestDatabase;
/** Has one session, because `rowsLookedAt` counts the rows of that, without timeouts, because a busy machine would exceed them. */
let db: Database<{ note: Note; task: Note }>;
beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ url: database.url, poolMax: 1, hasTimeouts: false, onConnectionError: () => undefined });
  for (const table of ['note', 'task'])
    await sql`create table ${sql.table(table)} (
      id bigint generated always as identity primary key, title varchar(20) not null)`.execute(db);
  await createIdempotencyKeys(db);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});
beforeEach(async () => {
  await sql`delete from idempotency_key`.execute(db);
});

const repositoryOf = (table: 'note' | 'task') =>
  repository(db, table, {
    columns: ['id', 'title'],
    insert: ['title'],
    update: { columns: ['title'], absent: 'kept' },
  });
const countKeys = async () => {
  const { rows } = await sql<{ count: number }>`select count(*) from idempotency_key`.execute(db);
  return rows[0]!.count;
};
const title = 'Note';

describe('An insert with an idempotency key', () => {
  test('takes one statement, the first time and again', async () => {
    const notes = repositoryOf('note');
    const key = { key: 'a', request: '/notes' };
    const id = await notes.insert({ title }, key);
    let again: number | undefined;
    expect(await statementsDuring(async () => (again = await notes.insert({ title }, key)))).toBe(1);
    expect(again).toBe(id);
    expect(await statementsDuring(() => notes.insert({ title }, { ...key, key: 'b' }))).toBe(1);
  });

  test('fails when the key belongs to another request, for another table too', async () => {
    await repositoryOf('note').insert({ title }, { key: 'a', request: '/notes' });
    await expect(repositoryOf('task').insert({ title }, { key: 'a', request: '/tasks' })).rejects.toThrow(
      ReusedKeyError,
    );
  });

  test('deletes at most eight of 20,000 expired keys, and reads few', async () => {
    await sql`insert into idempotency_key (key, request, row_id, created_at)
      select sha256(n::text::bytea), '', n, now() - interval '25 hours' from generate_series(1, 20000) n`.execute(db);
    const notes = repositoryOf('note');
    await notes.insert({ title }, { key: 'a', request: '/notes' });
    expect(await countKeys()).toBe(20_000 - 8 + 1);
    const before = await rowsLookedAt(db, 'idempotency_key');
    await notes.insert({ title }, { key: 'b', request: '/notes' });
    expect((await rowsLookedAt(db, 'idempotency_key')) - before).toBeLessThan(100);
  });
});
