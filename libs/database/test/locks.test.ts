import { expect, test } from '@jest/globals';
import { OverloadedError } from '@rest-services/errors';
import { sql } from 'kysely';
import { LockWaits } from '../src/connection/lock-waits.ts';
import { create, createAll, db, noteRepository, notes, outcome, someoneWaits, whileHolding } from './note-table.ts';
import { openConnected } from './open-database.ts';

// Requests that meet the locks of other sessions.

/** Outcomes of a request for a unique value that is taken: on a busy machine, its turn may come too late. */
const REFUSED = [{ code: '23505' }, { code: undefined }];

/** Outcomes of a change that has waited: on a busy machine, for too long, in its turn or before it. */
const CHANGED = [{ value: true }, { code: '57014' }, { code: undefined }];

test.each<[string, (locked: number[]) => Promise<unknown>[], unknown[]?]>([
  ['many changes of one locked row', ([id]) => Array.from({ length: 20 }, (_, rank) => notes.update(id!, { rank }))],
  ['changes of many locked rows', (ids) => ids.map((id) => notes.update(id, { rank: 2 }))],
  ['deletions of many locked rows', (ids) => ids.map((id) => notes.delete(id))],
  ['inserts of values that another session takes', () => wanted.map(create), REFUSED],
])('While %s wait, others have connections', async (_, change, outcomes = CHANGED) => {
  const [free, changed, deleted] = (await createAll('a', 'b', 'c')) as [number, number, number];
  const locked = await createAll(...Array.from({ length: 20 }, (_, n) => `locked ${n}`));
  const taking = sql`insert into note (title) select unnest(${wanted}::text[])`;
  const locking = sql`with taken as (${taking}) select from note where title like 'locked%' for update`;
  const waiting = await whileHolding(locking, async () => {
    const changes = change(locked).map(outcome);
    // In the statements that the others share.
    expect(await Promise.all([notes.update(changed, { rank: 2 }), notes.delete(deleted)])).toEqual([true, true]);
    await someoneWaits(2);
    expect(await notes.findById(free)).toMatchObject({ rank: 1 });
    expect(await notes.update(free, { rank: 0 })).toBe(true);
    expect(db.poolUse.waiting).toBe(0);
    return { changes };
  });
  const all = await Promise.all(waiting.changes);
  for (const each of all) expect(outcomes).toContainEqual(each);
  expect(all).toContainEqual(outcomes[0]);
});
const wanted = Array.from({ length: 20 }, (_, n) => `wanted ${n}`);

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

test('Of more changes of a locked row than there is time for, some get 503 at once, the others late', async () => {
  // More turns than one row gets.
  const wide = noteRepository(await openConnected({ poolMax: 10 }));
  const locked = await wide.insert({ title: 'locked', rank: 1 });
  await whileHolding(sql`select from note where id = ${locked} for update`, async () => {
    const changes: Promise<boolean>[] = [];
    for (let rank = 1; rank <= 103; rank += 1) {
      changes.push(wide.update(locked, { rank }));
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
  // None of them is made when the lock has gone.
  expect(await wide.update(locked, { title: 'last' })).toBe(true);
  expect(await wide.findById(locked)).toMatchObject({ title: 'last', rank: 1 });
});

test('A change in flight when its time has passed fails with ETIMEDOUT: it may still take effect', async () => {
  const late = new LockWaits(4).runInTurn(() => new Promise(() => undefined), 'row', performance.now() + 10);
  await expect(late).rejects.toMatchObject({ code: 'ETIMEDOUT' });
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
    const [served, busy] = [{ value: expect.anything() }, { code: undefined }];
    const outcomes = await Promise.all(others);
    for (const each of outcomes) expect([served, busy]).toContainEqual(each);
    expect(outcomes).toContainEqual(served);
    return { waiting };
  });
  expect(await waiting).toEqual({ code: '23505' });
});

test('Two processes that insert the same unique values the other way round have no deadlock', async () => {
  const other = noteRepository(await openConnected({ poolMax: 4 }));
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
      select deadlocks from pg_stat_database where datname = current_database()`.execute(db);
    return rows[0]!.deadlocks;
  }
});
