import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { allNotes, db, noteRepository, notes, observer, outcome } from './note-table.ts';

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
          const outcomes = await Promise.all(round.map((operation) => outcome(resultOf(operation))));
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

  function resultOf(operation: Operation): Promise<unknown> {
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
