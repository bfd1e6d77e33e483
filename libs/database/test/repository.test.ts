import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { OverloadedError } from '@rest-services/errors';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import fc from 'fast-check';
import { sql, type Generated } from 'kysely';
import { createRowCounts, Database, repository } from '../src/index.ts';
import { rowsLookedAt, statementsDuring } from './statements.ts';

interface Note {
  id: Generated<number>;
  title: string;
  rank: number | null;
}

interface Tables {
  note: Note;
  fresh: Pick<Note, 'id' | 'title'>;
  listed: { id: Generated<number>; words: string[] };
  counted: Pick<Note, 'id' | 'title'>;
  page: { id: number; text: string };
  essay: { id: Generated<number>; text: string };
  slow: { id: number; text: string };
  timed: { id: number; title: string; changed: string };
}

let database: TestDatabase;
let db: Database<Tables>;
/** Sees what is committed, and sends one statement for each question. */
let observer: Database<Tables>;
const open = () => new Database<Tables>({ url: database.url, poolMax: 4, onConnectionError: () => undefined });

let notes: ReturnType<typeof noteRepository>;
/** Sets the columns to null that an update does not name. */
let replacing: ReturnType<typeof noteRepository>;
const noteRepository = (on: Database<Tables>, absent: 'kept' | 'null' = 'kept') =>
  repository(on, 'note', {
    columns: ['id', 'title', 'rank'],
    insert: ['title', 'rank'],
    update: { columns: ['title', 'rank'], absent },
  });

const onlyRead = { insert: [], update: { columns: [], absent: 'kept' } } as const;
const onlyTitle = {
  columns: ['id', 'title'],
  insert: ['title'],
  update: { columns: ['title'], absent: 'kept' },
} as const;

beforeAll(async () => {
  database = await createTestDatabase();
  [db, observer] = [open(), open()];
  notes = noteRepository(db);
  replacing = noteRepository(db, 'null');
  await sql`create table note (
    id bigint generated always as identity primary key,
    title varchar(20) not null unique check (btrim(title) <> ''),
    rank integer)`.execute(db);
});
afterAll(async () => {
  await Promise.all([db.destroy(), observer.destroy()]);
  await database.drop();
});
beforeEach(async () => {
  await sql`truncate note restart identity`.execute(db);
});

/** Resolves when at least `sessions` sessions wait for a lock. */
async function someoneWaits(sessions = 1) {
  for (let waiting = 0; waiting < sessions;) {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(observer);
    waiting = rows.length;
  }
}

const allNotes = () => observer.kysely.selectFrom('note').selectAll().orderBy('id').execute();

/** What one of several requests that share a statement got: a value, or the code of its error. */
const outcome = (answer: Promise<unknown>) =>
  answer.then(
    (value) => ({ value }),
    (error: unknown) => ({ code: (error as { code: string }).code }),
  );

/** Outcomes of a request for a unique value that is taken: on a busy machine, its turn may come too late. */
const REFUSED = [{ code: '23505' }, { code: undefined }];

describe('Requests of one turn', () => {
  test('share one statement', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, (_, n) => notes.insert({ title: `${n}`, rank: n })));
    for (const share of [
      () => Promise.all(ids.slice(0, 32).map((id) => notes.findById(id))),
      () => Promise.all(ids.map((id) => notes.update(id, { rank: id }))),
      () => Promise.all(ids.map((id) => notes.delete(id))),
      () => Promise.all(ids.map(() => notes.delete(ids[0]!))),
    ]) {
      expect(await statementsDuring(share)).toBe(1);
    }
  });

  test('get each their own row, the same one twice if they ask for it twice, and undefined where there is none', async () => {
    const first = await notes.insert({ title: 'a', rank: 1 });
    const second = await notes.insert({ title: 'b', rank: null });
    const read = await Promise.all([second, 0, first, second, 2 ** 53 - 1].map((id) => notes.findById(id)));
    const [a, b] = [
      { id: first, title: 'a', rank: 1 },
      { id: second, title: 'b', rank: null },
    ];
    expect(read).toEqual([b, undefined, a, b, undefined]);
  });

  test('do not share one for texts of more than 16 KiB, which together would be too much for the memory', async () => {
    const lengths = [1, 16_384, 16_385, 1_000_000, 0];
    await sql`create table page as
      select id, repeat('x', length) as text from unnest(${lengths}::integer[]) with ordinality as given (length, id)`.execute(
      db,
    );
    const pages = repository(db, 'page', { columns: ['id', 'text'], longText: 'text', ...onlyRead });
    const readAll = (ids: number[]) => Promise.all(ids.map((id) => pages.findById(id)));
    expect((await readAll([5, 4, 3, 2, 1, 6])).map((page) => page?.text.length)).toEqual([
      ...lengths.toReversed(),
      undefined,
    ]);
    const reading = (ids: number[]) => statementsDuring(() => readAll(ids));
    expect(await reading(Array.from({ length: 30 }, () => 2))).toBe(1);
    expect(await reading(Array.from({ length: 30 }, () => 3))).toBe(31);
  });

  test('do not share one to write texts of more than 4,096 characters', async () => {
    await sql`create table essay (id bigint generated always as identity primary key, text text)`.execute(db);
    const essays = repository(db, 'essay', {
      columns: ['id', 'text'],
      insert: ['text'],
      update: { columns: ['text'], absent: 'kept' },
    });
    for (const [length, statements] of [
      [4_096, 1],
      [4_097, 3],
    ] as const) {
      const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(length));
      let ids: number[] = [];
      expect(
        await statementsDuring(async () => {
          ids = await Promise.all(texts.map((text) => essays.insert({ text })));
        }),
      ).toBe(statements);
      expect(
        await statementsDuring(() => Promise.all(ids.map((id, index) => essays.update(id, { text: texts[index]! })))),
      ).toBe(statements);
    }
  });

  test('leave connections to others while they read such texts, and are refused with 503 when it takes them too long', async () => {
    await sql`create view slow as select 3 as id, repeat('x', 20000) as text from pg_sleep(1.6)`.execute(db);
    const patient = new Database<Tables>({
      url: database.url,
      poolMax: 4,
      hasTimeouts: false,
      onConnectionError: () => undefined,
    });
    const slow = repository(patient, 'slow', { columns: ['id', 'text'], longText: 'text', ...onlyRead });
    const sent = await statementsDuring(async () => {
      const outcomes = Promise.allSettled([3, 3, 3, 3, 3].map((id) => slow.findById(id)));
      const reason: unknown = expect.any(OverloadedError);
      expect(await outcomes).toMatchObject([{ reason }, { reason }, { reason }, { reason }, { reason }]);
      expect(patient.poolUse).toMatchObject({ inUse: 3, waiting: 0 });
      // The turn of the other two comes while this read waits, but no request would use their rows.
      await slow.findById(3).catch(() => undefined);
    });
    expect(sent).toBe(1 + 3 + 2);
    await patient.destroy();
  });

  test('fail alone where PostgreSQL refuses what only they sent', async () => {
    await notes.insert({ title: 'taken', rank: 1 });
    const titles = ['x', 'taken', 'y', 'x', 'much too long for this column', ' ', null];
    const outcomes = await Promise.all(titles.map((title) => outcome(notes.insert({ title: title!, rank: 2 }))));
    const codes = outcomes.map((each) => ('code' in each ? each.code : 'created'));
    // Of the two that want the same name, one gets it.
    expect([codes[0], codes[3]].sort()).toEqual(['23505', 'created']);
    expect([codes[1], codes[2], ...codes.slice(4)]).toEqual(['23505', 'created', '22001', '23514', '23502']);
    expect((await allNotes()).map(({ title }) => title).sort()).toEqual(['taken', 'x', 'y']);
  });

  test('change what they would change alone', async () => {
    const [first, second] = [await create('a'), await create('b')];
    expect(await Promise.all([notes.update(first, { rank: 5 }), notes.update(second, { title: 'c' })])).toEqual([
      true,
      true,
    ]);
    expect(await allNotes()).toEqual([
      { id: first, title: 'a', rank: 5 },
      { id: second, title: 'c', rank: 1 },
    ]);
    await Promise.all([replacing.update(first, { title: 'd' }), replacing.update(second, { title: 'e', rank: 7 })]);
    expect(await allNotes()).toEqual([
      { id: first, title: 'd', rank: null },
      { id: second, title: 'e', rank: 7 },
    ]);
  });

  test('write arrays of JSON, alone and together', async () => {
    await sql`create table listed (id bigint primary key generated always as identity, words jsonb not null)`.execute(
      db,
    );
    const listed = repository(db, 'listed', {
      columns: ['id', 'words'],
      insert: ['words'],
      update: { columns: ['words'], absent: 'kept' },
    });
    const ids = await Promise.all([['a'], ['b']].map((words) => listed.insert({ words })));
    expect(await listed.update(ids[0]!, { words: ['c', 'd'] })).toBe(true);
    await Promise.all(ids.map((id) => listed.update(id, { words: ['e'] })));
    expect(await Promise.all(ids.map((id) => listed.findById(id)))).toEqual(ids.map((id) => ({ id, words: ['e'] })));
    expect(await listed.update(ids[0]!, { words: [] }, ({ words }) => words.length === 1)).toBe(true);
  });

  test('that update fail alone where PostgreSQL refuses what only they sent', async () => {
    const ids = await Promise.all(['a', 'b', 'c', 'd'].map(create));
    const changes = [{ title: 'x' }, { title: 'd' }, { rank: 2 ** 31 }, { rank: 2 }];
    expect(await Promise.all(changes.map((change, index) => outcome(notes.update(ids[index]!, change))))).toEqual([
      { value: true },
      { code: '23505' },
      { code: '22003' },
      { value: true },
    ]);
    expect((await allNotes()).map(({ title, rank }) => [title, rank])).toEqual([
      ['x', 1],
      ['b', 1],
      ['c', 1],
      ['d', 2],
    ]);
  });

  test('to change one row all take effect; of those to delete it, exactly one is told that it was there', async () => {
    const [id, other] = [await create('a'), await create('b')];
    const changes = [{ rank: 5 }, { title: 'c' }, { rank: 6 }];
    const changed = await Promise.all([...changes.map((change) => notes.update(id, change)), notes.update(0, {})]);
    expect(changed).toEqual([true, true, true, false]);
    const [note] = await allNotes();
    expect(note).toMatchObject({ id, title: 'c' });
    expect([5, 6]).toContain(note!.rank);

    expect(await Promise.all([id, 0, id, other, id].map((each) => notes.delete(each)))).toEqual([
      true,
      false,
      false,
      true,
      false,
    ]);
  });

  test('of two processes to change different columns of the same rows lose no update', async () => {
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

  test('do not wait for a row that somebody else has locked, unless they change it', async () => {
    const ids = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(create));
    const [locked, ...free] = ids;
    let waiting: Promise<unknown>[] = [];
    await observer.kysely.transaction().execute(async (transaction) => {
      await sql`select from note where id = ${locked} for update`.execute(transaction);
      const updates = ids.map((id) => notes.update(id, { rank: 2 }));
      expect(await Promise.all(updates.slice(1))).toEqual(free.map(() => true));
      const deletions = ids.map((id) => notes.delete(id));
      expect(await Promise.all(deletions.slice(1))).toEqual(free.map(() => true));
      waiting = [updates[0]!, deletions[0]!];
    });
    // Which of the two comes first is not said.
    expect((await Promise.all(waiting))[1]).toBe(true);
    expect(await allNotes()).toEqual([]);
  });

  test('leave connections to others while many change a row that somebody else has locked, and change it afterwards', async () => {
    const [locked, free] = [
      await notes.insert({ title: 'locked', rank: 0 }),
      await notes.insert({ title: 'free', rank: 0 }),
    ];
    const other = open();
    let changes: Promise<boolean>[] = [];
    await other.kysely.transaction().execute(async (locking) => {
      await sql`select from note where id = ${locked} for update`.execute(locking);
      for (let rank = 1; rank <= 20; rank += 1) {
        changes = [...changes, notes.update(locked, { rank })];
        await new Promise(setImmediate);
      }
      expect(await notes.update(free, { rank: 1 })).toBe(true);
      expect(db.poolUse.waiting).toBe(0);
    });
    expect(await Promise.all(changes)).toEqual(changes.map(() => true));
    await other.destroy();
  });

  test('leave connections to others while each changes a row that somebody else has locked, and change it afterwards', async () => {
    const free = await notes.insert({ title: 'free', rank: 0 });
    const locked = await Promise.all(Array.from({ length: 20 }, (_, n) => create(`locked ${n}`)));
    const other = open();
    let changes: Promise<boolean>[] = [];
    await other.kysely.transaction().execute(async (locking) => {
      await sql`select from note where id <> ${free} for update`.execute(locking);
      for (const id of locked) {
        changes = [...changes, notes.update(id, { rank: 2 })];
        await new Promise(setImmediate);
      }
      await someoneWaits(2);
      expect(await notes.findById(free)).toMatchObject({ rank: 0 });
      expect(await notes.update(free, { rank: 1 })).toBe(true);
      expect(db.poolUse.waiting).toBe(0);
    });
    expect(await Promise.all(changes)).toEqual(changes.map(() => true));
    await other.destroy();
  });

  test('leave connections to others while many wait for unique values that somebody else is about to take', async () => {
    const free = await notes.insert({ title: 'free', rank: 0 });
    const titles = Array.from({ length: 20 }, (_, n) => `wanted ${n}`);
    const other = open();
    let creates: Promise<unknown>[] = [];
    await other.kysely.transaction().execute(async (taking) => {
      await sql`insert into note (title) select unnest(${titles}::text[])`.execute(taking);
      creates = titles.map((title) => outcome(create(title)));
      await someoneWaits(2);
      expect(await notes.findById(free)).toMatchObject({ rank: 0 });
      expect(db.poolUse.waiting).toBe(0);
    });
    for (const each of await Promise.all(creates)) expect(REFUSED).toContainEqual(each);
    await other.destroy();
  });

  test('succeed where PostgreSQL ends the change of one row to resolve a deadlock', async () => {
    const [first, second] = [
      await notes.insert({ title: 'first', rank: 0 }),
      await notes.insert({ title: 'second', rank: 0 }),
    ];
    const other = new Database({
      url: database.url,
      poolMax: 1,
      hasTimeouts: false,
      onConnectionError: () => undefined,
    });
    let change: Promise<boolean> | undefined;
    await other.kysely.transaction().execute(async (locking) => {
      await sql`set local deadlock_timeout = '1min'`.execute(locking);
      await sql`update note set title = 'third' where id = ${second}`.execute(locking);
      change = notes.update(first, { title: 'second' });
      await someoneWaits();
      // Now each waits for the other, and only the change looks for a deadlock.
      await sql`update note set rank = 1 where id = ${first}`.execute(locking);
    });
    expect(await change).toBe(true);
    expect((await allNotes()).map(({ title }) => title).sort()).toEqual(['second', 'third']);
    await other.destroy();
  });

  test('set the time of a row that they had to wait for to one after the change before', async () => {
    await sql`create table timed (id bigint primary key, title text, changed timestamptz(3) default now())`.execute(db);
    await sql`insert into timed values (1), (2)`.execute(db);
    const timed = repository(db, 'timed', {
      columns: ['id'],
      insert: [],
      update: { columns: ['title'], absent: 'kept', touch: 'changed' },
    });
    const other = open();
    let changes: Promise<boolean[]> | undefined;
    const before = await other.kysely.transaction().execute(async (locking) => {
      await sql`select from timed where id = 1 for update`.execute(locking);
      changes = Promise.all([timed.update(1, { title: 'a' }), timed.update(2, { title: 'b' })]);
      await someoneWaits();
      const { rows } = await sql<{ changed: string }>`
        update timed set changed = clock_timestamp() + interval '5 ms' where id = 1 returning changed`.execute(locking);
      return rows[0]!.changed;
    });
    expect(await changes).toEqual([true, true]);
    const { changed } = await other.kysely
      .selectFrom('timed')
      .select('changed')
      .where('id', '=', 1)
      .executeTakeFirstOrThrow();
    expect(changed >= before).toBe(true);
    await other.destroy();
  });

  test('are refused with 503 where more want to change a locked row than there is time for', async () => {
    const locked = await notes.insert({ title: 'locked', rank: 0 });
    const other = new Database({
      url: database.url,
      poolMax: 1,
      hasTimeouts: false,
      onConnectionError: () => undefined,
    });
    await other.kysely.transaction().execute(async (locking) => {
      await sql`select from note where id = ${locked} for update`.execute(locking);
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
      for (const outcome of [first, second]) expect(outcome).toMatchObject({ reason: { code: '57014' } });
      for (const outcome of others) expect(outcome).toMatchObject({ reason: refused });
    });
    await other.destroy();
    expect(await notes.update(locked, { rank: 1 })).toBe(true);
  });

  test('succeed while one of them waits for a unique value that somebody else is about to take', async () => {
    const ids = await Promise.all(['a', 'b', 'c'].map(create));
    for (const [wanted, ask] of [
      ['x', () => ['x', 'y', 'z'].map(create)],
      [
        'v',
        () => [{ title: 'v' }, { title: 'w' }, { rank: 2 }].map((change, index) => notes.update(ids[index]!, change)),
      ],
    ] as const) {
      let waiting: Promise<unknown> | undefined;
      await observer.kysely.transaction().execute(async (transaction) => {
        await sql`insert into note (title) values (${wanted})`.execute(transaction);
        const [first, ...others] = ask().map(outcome);
        waiting = first;
        for (const other of others) expect(await other).toEqual({ value: expect.anything() });
      });
      expect(await waiting).toEqual({ code: '23505' });
    }
  });

  test('do not wait for each other when they insert the same unique values the other way round', async () => {
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

  const create = (title: string) => notes.insert({ title, rank: 1 });
});

/** What one request of a round does to the notes 1 to 12, or to a title of which there are 12 too. */
type Operation =
  | { kind: 'read'; id: number }
  | { kind: 'remove'; id: number }
  | { kind: 'update'; id: number; rank: number }
  | { kind: 'create'; title: string; rank: number };

const few = fc.integer({ min: 1, max: 12 });
/** More than the column holds. */
const TOO_MUCH = 2 ** 31;
const operations: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: fc.constant('read' as const), id: few }),
  fc.record({ kind: fc.constant('remove' as const), id: few }),
  fc.record({ kind: fc.constant('update' as const), id: few, rank: fc.oneof(few, fc.constant(TOO_MUCH)) }),
  fc.record({
    kind: fc.constant('create' as const),
    title: fc.oneof(
      few.map((n) => `note ${n}`),
      fc.constantFrom('', 'x'.repeat(21)),
    ),
    rank: few,
  }),
);

test('Interleaved creates, reads, updates and deletes answer as one statement for each would', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(operations, { maxLength: 40 }), { minLength: 1, maxLength: 12 }),
      async (rounds) => {
        await sql`truncate note restart identity`.execute(db);
        for (const round of rounds) {
          const before = new Map((await allNotes()).map((note) => [note.id, note]));
          const outcomes = await Promise.all(round.map((operation) => outcome(answerOf(operation))));
          const after = new Map((await allNotes()).map((note) => [note.id, note]));
          const of = <Kind extends Operation['kind']>(kind: Kind) =>
            round.flatMap((operation, index) =>
              operation.kind === kind
                ? [{ operation: operation as Extract<Operation, { kind: Kind }>, got: outcomes[index]! }]
                : [],
            );
          const removedIds = new Set(of('remove').map(({ operation }) => operation.id));

          for (const { operation, got } of of('read')) {
            // What it saw is what was there before, or what another request of the round made of it.
            const note = before.get(operation.id);
            const ranks = of('update').filter((each) => each.operation.id === operation.id);
            const seen = [note, ...ranks.map((update) => note && { ...note, rank: update.operation.rank })];
            const created = of('create').some((each) => 'value' in each.got && each.got.value === operation.id);
            if (removedIds.has(operation.id) || created) seen.push(undefined);
            if (!created) expect(seen).toContainEqual('value' in got ? got.value : got);
          }
          for (const { operation, got } of of('update')) {
            const { id, rank } = operation;
            const isCertain = !removedIds.has(id) && before.has(id) === after.has(id);
            if (!isCertain) continue;
            const expected = rank === TOO_MUCH ? { code: '22003' } : { value: before.has(id) };
            // PostgreSQL may find the missing row before it reads the value.
            if (rank !== TOO_MUCH || before.has(id) || 'code' in got) expect(got).toEqual(expected);
          }
          for (const note of after.values()) {
            const ranks = of('update').filter(({ operation, got }) => operation.id === note.id && 'value' in got);
            const old = before.get(note.id);
            if (old && ranks.length === 0) expect(note).toEqual(old);
            else if (old) expect(ranks.map(({ operation }) => operation.rank)).toContain(note.rank);
          }
          for (const id of removedIds) {
            const told = of('remove').filter(
              ({ operation, got }) => operation.id === id && 'value' in got && got.value,
            );
            expect(told).toHaveLength(before.has(id) || (!after.has(id) && told.length > 0) ? 1 : 0);
            if (before.has(id)) expect(after.has(id)).toBe(false);
          }
          for (const { operation, got } of of('create')) {
            const { title, rank } = operation;
            const holders = [...before.values()].filter((note) => note.title === title);
            if (title === '') expect(got).toEqual({ code: '23514' });
            else if (title.length > 20) expect(got).toEqual({ code: '22001' });
            else if ('value' in got) {
              const id = got.value as number;
              expect(before.has(id)).toBe(false);
              if (!removedIds.has(id)) expect(after.get(id)).toMatchObject({ id, title });
              if (!of('update').some((each) => each.operation.id === id) && after.has(id))
                expect(after.get(id)!.rank).toBe(rank);
            } else {
              expect(got.code).toBe('23505');
              const winners = of('create').filter((each) => each.operation.title === title && 'value' in each.got);
              expect(holders.length + winners.length).toBeGreaterThan(0);
            }
          }
          const created = of('create').flatMap(({ got }) => ('value' in got ? [got.value as number] : []));
          expect(new Set(created).size).toBe(created.length);
          // Every row that appeared or disappeared did so by a request.
          for (const id of after.keys()) expect(before.has(id) || created.includes(id)).toBe(true);
          for (const id of [...before.keys(), ...created]) expect(after.has(id) || removedIds.has(id)).toBe(true);
        }
      },
    ),
    { numRuns: 60 },
  );

  function answerOf(operation: Operation): Promise<unknown> {
    switch (operation.kind) {
      case 'read':
        return notes.findById(operation.id);
      case 'remove':
        return notes.delete(operation.id);
      case 'create':
        return notes.insert({ title: operation.title, rank: operation.rank });
      case 'update':
        return notes.update(operation.id, { rank: operation.rank });
    }
  }
});

test('When connections are cut under them, each request gets its own outcome: no row of another, none lost that was acknowledged', async () => {
  const created = new Map<string, number>();
  const updated: string[] = [];
  const failed: string[] = [];
  let next = 0;
  let isOver = false;
  let onProgress: () => void = () => undefined;
  const progress = () => new Promise<void>((resolve) => (onProgress = resolve));

  const cutOne = async () => {
    const { rows } = await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and state = 'active' and query ilike '%json_populate%' and pid <> pg_backend_pid()`.execute(
      observer,
    );
    return rows.length > 0 || isOver;
  };
  // Some succeed in between: if all failed, there would be nothing that could be lost.
  const killer = async () => {
    while (!isOver) {
      await progress();
      for (let isCut = false; !isCut;) isCut = await cutOne();
    }
  };
  const writer = async () => {
    while (created.size < 2_000 || failed.length === 0) {
      const title = `note ${(next += 1)}`;
      const got = await outcome(notes.insert({ title, rank: next }));
      if ('code' in got) {
        failed.push(title);
        continue;
      }
      const id = got.value as number;
      created.set(title, id);
      onProgress();
      const update = await outcome(notes.update(id, { rank: -id }));
      if ('value' in update) updated.push(title);
    }
  };
  const killing = killer();
  await Promise.all(Array.from({ length: 64 }, writer));
  isOver = true;
  onProgress();
  await killing;

  const stored = await allNotes();
  const observed = noteRepository(observer);
  const idOf = new Map(stored.map(({ id, title }) => [title, id]));
  for (const [title, id] of created) expect([title, idOf.get(title)]).toEqual([title, id]);
  // A failed insert may have stored its row, but not twice.
  expect(stored.length).toBe(idOf.size);
  expect(stored.length).toBeLessThanOrEqual(created.size + failed.length);
  const read = await Promise.all([...created.values()].map((id) => observed.findById(id)));
  expect(read.map((note) => note?.title)).toEqual([...created.keys()]);
  const rankOf = new Map(stored.map(({ rank, title }) => [title, rank]));
  for (const title of updated) expect([title, rankOf.get(title)]).toEqual([title, -created.get(title)!]);
});

describe('A statement that is planned once', () => {
  test('uses the index also when its table was empty then and has grown since', async () => {
    const one = new Database<Tables>({ url: database.url, poolMax: 1, onConnectionError: () => undefined });
    // Of so wide a row PostgreSQL expects few, so that it would rather read all of them.
    await sql`create table fresh (id bigint generated always as identity primary key, title varchar(1000))`.execute(
      one,
    );
    const fresh = repository(one, 'fresh', onlyTitle);
    const useAll = async (ids: number[]) => [
      await Promise.all(ids.map((id) => fresh.findById(id))),
      await Promise.all(ids.map((id) => fresh.update(id, { title: 'new' }))),
      await Promise.all(ids.map((id) => fresh.delete(id))),
    ];
    for (let turn = 0; turn < 10; turn += 1) await useAll([1, 2]);
    await sql`insert into fresh (title) select n::text from generate_series(1, 20000) n`.execute(one);
    const before = await rowsLookedAt(one, 'fresh');
    for (let id = 1; id <= 20; id += 2) {
      const rows = [id, id + 1].map((each) => ({ id: each, title: `${each}` }));
      expect(await useAll([id, id + 1])).toEqual([rows, [true, true], [true, true]]);
    }
    expect((await rowsLookedAt(one, 'fresh')) - before).toBeLessThan(1_000);
    await one.destroy();
  });

  test('may be prepared in two places, and others after it', async () => {
    const one = new Database<Tables>({ url: database.url, poolMax: 1, onConnectionError: () => undefined });
    const id = await notes.insert({ title: 'a', rank: 1 });
    const [first, second, other] = [
      repository(one, 'note', { columns: ['id'], ...onlyRead }),
      repository(one, 'note', { columns: ['id'], ...onlyRead }),
      repository(one, 'note', { columns: ['id', 'rank'], ...onlyRead }),
    ];
    for (const ids of [first, second]) expect(await ids.findById(id)).toEqual({ id });
    expect(await other.findById(id)).toEqual({ id, rank: 1 });
    await one.destroy();
  });

  test('is not planned anew for those who ask for little', async () => {
    const one = new Database<Tables>({ url: database.url, poolMax: 1, onConnectionError: () => undefined });
    await sql`create table counted (id bigint generated always as identity primary key, title text)`.execute(one);
    await one.kysely.transaction().execute((transaction) => createRowCounts(transaction, { table: 'counted' }));
    await sql`insert into counted (title) select n::text from generate_series(1, 20000) n`.execute(one);
    await sql`analyze counted`.execute(one);

    const counted = repository(one, 'counted', onlyTitle);
    for (let turn = 1; turn <= 10; turn += 1) {
      expect(await counted.findById(turn)).toEqual({ id: turn, title: `${turn}` });
      expect((await counted.page({ offset: 0, limit: 1 })).rows.length).toBe(1);
      expect((await counted.page({ offset: turn * 1000, limit: 1 })).rows.length).toBe(1);
      expect(await counted.insert({ title: 'new' })).toBe(20_000 + turn);
      expect(await counted.update(20_000 + turn, { title: 'other' })).toBe(true);
      expect(await counted.delete(20_000 + turn)).toBe(true);
    }
    for (let turn = 0; turn < 10; turn += 1) {
      const ids = await Promise.all([1, 2].map(() => counted.insert({ title: 'new' })));
      expect(await Promise.all(ids.map((id) => counted.update(id, { title: 'other' })))).toEqual([true, true]);
      expect(await Promise.all(ids.map((id) => counted.delete(id)))).toEqual([true, true]);
    }

    const { rows } = await sql<{ custom_plans: number }>`select custom_plans from pg_prepared_statements`.execute(one);
    expect(rows.map(({ custom_plans }) => custom_plans)).toEqual(Array(9).fill(0));
    await one.destroy();
  });

  test('goes on after a migration has added a column, and after one that changes the type of a column', async () => {
    const id = await notes.insert({ title: 'a', rank: 1 });
    await sql`alter table note add column more text`.execute(observer);
    expect(await notes.findById(id)).toEqual({ id, title: 'a', rank: 1 });
    await sql`alter table note alter column title type text`.execute(observer);
    for (let turn = 0; turn < 4; turn += 1) expect(await notes.findById(id)).toEqual({ id, title: 'a', rank: 1 });
  });
});
