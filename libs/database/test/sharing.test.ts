import { expect, test } from '@jest/globals';
import { OverloadedError } from '@rest-services/errors';
import { sql } from 'kysely';
import { Repository } from '../src/index.ts';
import {
  allNotes,
  create,
  createAll,
  db,
  noteRepository,
  notes,
  observer,
  outcome,
  texts,
  type Tables,
} from './note-table.ts';
import { open } from './open-database.ts';
import { statementsDuring } from './statements.ts';

// Requests of one iteration of the event loop, which share statements.

test('Reads, updates and deletes of many rows take one statement each', async () => {
  const ids = await Promise.all(Array.from({ length: 50 }, (_, n) => create(`${n}`)));
  for (const share of [
    () => Promise.all(ids.slice(0, 32).map((id) => notes.findById(id))),
    () => Promise.all(ids.map((id) => notes.update(id, { rank: id }))),
    () => Promise.all(ids.map((id) => notes.delete(id))),
  ]) {
    expect(await statementsDuring(share)).toBe(1);
  }
});

test('Texts above 16 KiB are read alone, because together they would take too much memory', async () => {
  const lengths = [1, 16_384, 16_385, 1_000_000, 0];
  await sql`create table page as
    select id, repeat('x', length) as text from unnest(${lengths}::integer[]) with ordinality as given (length, id)`.execute(
    db,
  );
  const pages = new Repository(db, 'page', { ...texts, longText: 'text' });
  const readAll = (ids: number[]) => Promise.all(ids.map((id) => pages.findById(id)));
  expect((await readAll([5, 4, 3, 2, 1, 6])).map((page) => page?.text.length)).toEqual([
    ...lengths.toReversed(),
    undefined,
  ]);
  const reading = (id: number) => statementsDuring(() => readAll(Array<number>(30).fill(id)));
  expect(await reading(2)).toBe(1);
  expect(await reading(3)).toBe(31);
});

test.each([
  [4_096, 1],
  [4_097, 3],
])('Three texts of %d characters are written by %d statements', async (length, statements) => {
  await sql`create table if not exists essay (id bigint generated always as identity primary key, text text)`.execute(
    db,
  );
  const essays = new Repository(db, 'essay', texts);
  const written = ['a', 'b', 'c'].map((letter) => letter.repeat(length));
  let ids: number[] = [];
  const insertAll = async () => (ids = await Promise.all(written.map((text) => essays.insert({ text }))));
  const updateAll = () => Promise.all(written.map((text, index) => essays.update(ids[index]!, { text })));
  expect([await statementsDuring(insertAll), await statementsDuring(updateAll)]).toEqual([statements, statements]);
});

test('Reads of texts above 16 KiB take three connections, and get 503 when they take too long', async () => {
  await sql`create view slow as select 3 as id, repeat('x', 20000) as text from pg_sleep(1.6)`.execute(db);
  const patient = open<Tables>({ poolMax: 4, purpose: 'migrations' });
  const slow = new Repository(patient, 'slow', { ...texts, longText: 'text' });
  const sent = await statementsDuring(async () => {
    const outcomes = Promise.allSettled(Array.from({ length: 5 }, () => slow.findById(3)));
    const refused = { status: 'rejected', reason: expect.any(OverloadedError) };
    expect(await outcomes).toEqual(Array(5).fill(refused));
    expect(patient.poolUse).toMatchObject({ inUse: 3, waiting: 0 });
    // The turn of the other two comes while this read waits, but no request would use their rows.
    await slow.findById(3).catch(() => undefined);
  });
  expect(sent).toBe(1 + 3 + 2);
});

test('An update leaves columns that it does not name as they are, or sets them to null', async () => {
  const [first, second] = (await createAll('a', 'b')) as [number, number];
  await Promise.all([notes.update(first, { rank: 5 }), notes.update(second, { title: 'c' })]);
  expect(await allNotes()).toEqual([
    { id: first, title: 'a', rank: 5 },
    { id: second, title: 'c', rank: 1 },
  ]);
  const replacing = noteRepository(db, 'null');
  await Promise.all([replacing.update(first, { title: 'd' }), replacing.update(second, { title: 'e', rank: 7 })]);
  expect(await allNotes()).toEqual([
    { id: first, title: 'd', rank: null },
    { id: second, title: 'e', rank: 7 },
  ]);
});

test('A request that PostgreSQL refuses fails alone', async () => {
  const ids = await createAll('a', 'b', 'c', 'd');
  const changes = [{ title: 'x' }, { title: 'd' }, { rank: 2 ** 31 }, { rank: 2 }];
  expect(await Promise.all(changes.map((change, index) => outcome(notes.update(ids[index]!, change))))).toEqual([
    { value: true },
    { code: '23505' },
    { code: '22003' },
    { value: true },
  ]);
  const titles = ['y', null, 'z'];
  const created = await Promise.all(titles.map((title) => outcome(create(title!))));
  expect(created).toEqual([{ value: expect.any(Number) }, { code: '23502' }, { value: expect.any(Number) }]);
  expect((await allNotes()).map(({ title }) => title).sort()).toEqual(['b', 'c', 'd', 'x', 'y', 'z']);
});

test('Two processes that change different columns of the same rows lose no update', async () => {
  const other = noteRepository(observer);
  const ids = await Promise.all(Array.from({ length: 12 }, (_, n) => create(`${n}`)));
  for (let round = 2; round < 52; round += 1) {
    const titles = ids.map((id) => notes.update(id, { title: `${id} in ${round}` }));
    const ranks = ids.toReversed().map((id) => other.update(id, { rank: round }));
    expect(new Set(await Promise.all([...titles, ...ranks]))).toEqual(new Set([true]));
    expect(await allNotes()).toEqual(
      ids.sort((a, b) => a - b).map((id) => ({ id, title: `${id} in ${round}`, rank: round })),
    );
  }
});
