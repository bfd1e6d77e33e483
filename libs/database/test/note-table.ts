// What the files share that test a repository: a database of their own with the table `note`, which each test finds empty.
import { beforeEach } from '@jest/globals';
import { sql, type Generated, type RawBuilder } from 'kysely';
import { Type } from 'typebox';
import { Repository, type Database } from '../src/index.ts';
import { open, openConnected, openPatient } from './open-database.ts';

export interface Tables {
  note: { id: Generated<number>; title: string; rank: number | null };
}

export const db = await openConnected<Tables>({ poolMax: 4 });
/** Sees what is committed, and sends one statement for each question, without time limits. */
export const observer = open<Tables>({ poolMax: 4, purpose: 'migrations' });

await sql`create table note (
  id bigint generated always as identity primary key,
  title varchar(20) not null unique check (btrim(title) <> ''),
  rank integer)`.execute(db);
beforeEach(async () => {
  await sql`truncate note restart identity`.execute(db);
});

const id = Type.Integer();
const fields = { title: Type.String(), rank: Type.Unsafe<number | null>({}) };

export const noteRepository = (on: Database<Tables>) =>
  new Repository(on, 'note', {
    row: Type.Object({ id, ...fields }),
    insert: Type.Object(fields),
    update: Type.Object(fields),
    absent: 'kept',
  });
export const notes = noteRepository(db);

/** Rows of a table with an id and a text. */
export const texts = {
  row: Type.Object({ id, text: Type.String() }),
  insert: Type.Object({ text: Type.String() }),
  update: Type.Object({ text: Type.String() }),
  absent: 'kept',
} as const;

export const create = (title: string) => notes.insert({ title, rank: 1 });
export const createAll = (...titles: string[]) => Promise.all(titles.map(create));
export const allNotes = () => observer.kysely.selectFrom('note').selectAll().orderBy('id').execute();

/** What one of several requests that share a statement got: a value, or the code of its error. */
export const outcome = (result: Promise<unknown>) =>
  result.then(
    (value) => ({ value }),
    (error: unknown) => ({ code: (error as { code: string }).code }),
  );

/** Runs `during` while a transaction of another process holds the locks of `statement`, which ends then. */
export async function whileHolding<Result>(
  statement: RawBuilder<unknown>,
  during: () => Promise<Result>,
): Promise<Result> {
  return openPatient()
    .transaction()
    .execute(async (holder) => {
      await statement.execute(holder);
      return during();
    });
}

/** Resolves when at least `sessions` sessions wait for a lock. */
export async function someoneWaits(sessions = 1) {
  for (let waiting = 0; waiting < sessions;) {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(observer);
    waiting = rows.length;
  }
}
