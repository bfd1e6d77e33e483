import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { Repository, type Database } from '../src/index.ts';
import { open } from '../test/open-database.ts';

// A session that is frozen, as all are when the server is, carries out what it was sent when it goes on.

interface Tables {
  note: { id: number; title: string };
}

let db: Database<Tables>;
beforeAll(async () => {
  db = open();
  await sql`create table note (id bigint primary key, title text not null)`.execute(db);
});
beforeEach(async () => {
  await sql`truncate note`.execute(db);
  await sql`insert into note values (1, 'first')`.execute(db);
});

const notes = (on: Database<Tables>) =>
  new Repository(on, 'note', {
    row: Type.Object({ id: Type.Integer(), title: Type.String() }),
    insert: Type.Object({}),
    update: Type.Object({ title: Type.String() }),
    absent: 'kept',
  });

/** Sends a change whose outcome is unknown, another one that is acknowledged, and lets the first go on. @returns the title */
async function titleAfter(change: (on: Database<Tables>, freeze: () => void) => Promise<boolean>) {
  const frozen = open<Tables>();
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(frozen);
  const { pid } = rows[0]!;
  try {
    await expect(change(frozen, () => process.kill(pid, 'SIGSTOP'))).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(await notes(db).update(1, { title: 'acknowledged' })).toBe(true);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  while ((await sql`select from pg_stat_activity where pid = ${pid}`.execute(db)).rows.length > 0);
  return (await notes(db).findById(1))!.title;
}

test('A change of unknown outcome may be made after a later one that was acknowledged', async () => {
  const title = titleAfter((on, freeze) => {
    freeze();
    return notes(on).update(1, { title: 'late' });
  });
  expect(await title).toBe('late');
});

test('A change of unknown outcome that names a version is not made after a later one', async () => {
  const title = titleAfter(async (on, freeze) => {
    const found = await notes(on).findVersion(1);
    freeze();
    return notes(on).update(1, { title: 'late' }, found!.version);
  });
  expect(await title).toBe('acknowledged');
});
