import { expect, test } from '@jest/globals';
import { OverloadedError } from '@rest-services/errors';
import { sql } from 'kysely';
import { Type } from 'typebox';
import { Repository } from '../src/index.ts';
import {
  allNotes,
  create,
  createAll,
  db,
  id,
  noteRepository,
  notes,
  observer,
  outcome,
  someoneWaits,
  whileHolding,
} from './note-table.ts';

// Requests that meet the locks of other sessions.

/** Outcomes of a request for a unique value that is taken: on a busy machine, its turn may come too late. */
const REFUSED = [{ code: '23505' }, { code: undefined }];

test('Only requests that change a locked row wait for it', async () => {
  const ids = await createAll('a', 'b', 'c', 'd', 'e', 'f');
  const [locked, ...free] = ids;
  const waiting = await whileHolding(sql`select from note where id = ${locked} for update`, async () => {
    const updates = ids.map((id) => notes.update(id, { rank: 2 }));
    expect(await Promise.all(updates.slice(1))).toEqual(free.map(() => true));
    const deletions = ids.map((id) => notes.delete(id));
    expect(await Promise.all(deletions.slice(1))).toEqual(free.map(() => true));
    return { update: updates[0]!, deletion: deletions[0]! };
  });
  await waiting.update;
  expect(await waiting.deletion).toBe(true);
  expect(await allNotes()).toEqual([]);
});

test.each<[string, string[], (ids: number[]) => Promise<unknown>[], unknown[]]>([
  [
    'many changes of one locked row',
    ['locked'],
    ([id]) => Array.from({ length: 20 }, (_, rank) => notes.update(id!, { rank })),
    [{ value: true }],
  ],
  [
    'changes of many locked rows',
    Array.from({ length: 20 }, (_, n) => `locked ${n}`),
    (ids) => ids.map((id) => notes.update(id, { rank: 2 })),
    [{ value: true }],
  ],
  ['inserts of values that another session takes', [], () => wanted.map(create), REFUSED],
])('While %s wait, others have connections', async (_, lockedTitles, change, outcomes) => {
  const free = await create('free');
  const locked = await createAll(...lockedTitles);
  const taking = sql`insert into note (title) select unnest(${wanted}::text[])`;
  const locking = sql`with taken as (${taking}) select from note where id <> ${free} for update`;
  const waiting = await whileHolding(locking, async () => {
    const changes = change(locked).map(outcome);
    await someoneWaits(2);
    expect(await notes.findById(free)).toMatchObject({ rank: 1 });
    expect(await notes.update(free, { rank: 0 })).toBe(true);
    expect(db.poolUse.waiting).toBe(0);
    return { changes };
  });
  for (const each of await Promise.all(waiting.changes)) expect(outcomes).toContainEqual(each);
});
const wanted = Array.from({ length: 20 }, (_, n) => `wanted ${n}`);

test('A change that PostgreSQL ends to resolve a deadlock is made again', async () => {
  const [first, second] = await createAll('first', 'second');
  const holding = sql`update note set title = 'third' where id = ${second}`;
  const { change } = await whileHolding(holding, async (holder) => {
    await sql`set local deadlock_timeout = '1min'`.execute(holder);
    const change = notes.update(first!, { title: 'second' });
    await someoneWaits();
    // Now each waits for the other, and only the change looks for a deadlock.
    await sql`update note set rank = 1 where id = ${first}`.execute(holder);
    return { change };
  });
  expect(await change).toBe(true);
  expect((await allNotes()).map(({ title }) => title).sort()).toEqual(['second', 'third']);
});

test.each([
  [1, { value: true }],
  [2, { code: '40P01' }],
])('After %d deadlocks of a change that ran alone, its outcome is %j', async (deadlocks, expected) => {
  const changed = await create('a');
  await sql`create sequence attempt`.execute(db);
  await sql`create function refuse_change() returns trigger language plpgsql as $$ begin
    if nextval('attempt') <= ${sql.lit(deadlocks)} then raise 'of a test' using errcode = 'deadlock_detected'; end if;
    return new;
  end $$`.execute(db);
  await sql`create trigger refuse before update on note execute function refuse_change()`.execute(db);
  expect(await outcome(notes.update(changed, { rank: 2 }))).toEqual(expected);
  await sql`drop trigger refuse on note; drop function refuse_change; drop sequence attempt`.execute(db);
});

test('The time of a row that was waited for is after the change before', async () => {
  await sql`create table timed (id bigint primary key, title text, changed timestamptz(3) default now())`.execute(db);
  await sql`insert into timed values (1), (2)`.execute(db);
  const timed = new Repository(db, 'timed', {
    row: Type.Object({ id, title: Type.String(), changed: Type.String() }),
    insert: Type.Object({}),
    update: Type.Object({ title: Type.String() }),
    absent: 'kept',
    touch: 'changed',
  });
  const { changes, before } = await whileHolding(sql`select from timed where id = 1 for update`, async (holder) => {
    const changes = Promise.all([timed.update(1, { title: 'a' }), timed.update(2, { title: 'b' })]);
    await someoneWaits();
    const { rows } = await sql<{ changed: string }>`
      update timed set changed = clock_timestamp() + interval '5 ms' where id = 1 returning changed`.execute(holder);
    return { changes, before: rows[0]!.changed };
  });
  expect(await changes).toEqual([true, true]);
  const { changed } = (await timed.findById(1))!;
  expect(changed >= before).toBe(true);
});

test('Of more changes of a locked row than there is time for, some get 503 at once, the others late', async () => {
  const locked = await create('locked');
  await whileHolding(sql`select from note where id = ${locked} for update`, async () => {
    const changes: Promise<boolean>[] = [];
    for (let rank = 1; rank <= 103; rank += 1) {
      changes.push(notes.update(locked, { rank }));
      await new Promise(setImmediate);
    }
    const refused: unknown = expect.any(OverloadedError);
    // At once: there are a hundred before it.
    expect(await Promise.race(changes.map((change) => change.catch((error: unknown) => error)))).toEqual(refused);
    const [first, second, ...others] = await Promise.allSettled(changes);
    // PostgreSQL has undone them.
    for (const each of [first, second]) expect(each).toMatchObject({ reason: { code: '57014' } });
    for (const each of others) expect(each).toMatchObject({ reason: refused });
  });
  expect(await notes.update(locked, { rank: 1 })).toBe(true);
});

test.each<[string, string, (ids: number[]) => Promise<unknown>[]]>([
  ['insert', 'x', () => ['x', 'y', 'z'].map(create)],
  [
    'update',
    'v',
    (ids) => [{ title: 'v' }, { title: 'w' }, { rank: 2 }].map((change, index) => notes.update(ids[index]!, change)),
  ],
])('An %s that waits for a unique value of another session delays no other', async (_, title, ask) => {
  const ids = await createAll('a', 'b', 'c');
  const { waiting } = await whileHolding(sql`insert into note (title) values (${title})`, async () => {
    const [waiting, ...others] = ask(ids).map(outcome);
    for (const other of others) expect(await other).toEqual({ value: expect.anything() });
    return { waiting };
  });
  expect(await waiting).toEqual({ code: '23505' });
});

test('Two processes that insert the same unique values the other way round have no deadlock', async () => {
  const other = noteRepository(observer);
  const before = await deadlocks();
  for (let round = 0; round < 20; round += 1) {
    const titles = Array.from({ length: 64 }, (_, n) => `${n} in ${round}`);
    const outcomes = await Promise.all([
      ...titles.map((title) => outcome(create(title))),
      ...titles.toReversed().map((title) => outcome(other.insert({ title, rank: 2 }))),
    ]);
    const refused = outcomes.filter((each) => 'code' in each);
    expect(refused).toHaveLength(64);
    for (const each of refused) expect(REFUSED).toContainEqual(each);
  }
  expect(await deadlocks()).toBe(before);

  async function deadlocks() {
    const { rows } = await sql<{ deadlocks: number }>`
      select deadlocks from pg_stat_database where datname = current_database()`.execute(observer);
    return rows[0]!.deadlocks;
  }
});
