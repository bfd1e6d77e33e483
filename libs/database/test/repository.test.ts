import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { allNotes, create, db, notes, observer, outcome } from './note-table.ts';

/** Of the notes 1 to 8, and of two that are missing. */
const id = fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8, 101, 102);
const rank = fc.integer({ min: 1, max: 12 });
/** More than the column holds. */
const TOO_MUCH = 2 ** 31;
const title = fc.oneof(
  rank.map((n) => `note ${n}`),
  fc.constantFrom('', 'x'.repeat(21)),
);
const request = fc.oneof(
  fc.record({ read: id }),
  fc.record({ remove: id }),
  fc.record({ update: id, rank: fc.oneof(rank, fc.constant(TOO_MUCH)) }),
  fc.record({ create: title, rank }),
);
type Request = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

function send(request: Request): Promise<unknown> {
  if ('read' in request) return notes.findById(request.read);
  if ('remove' in request) return notes.delete(request.remove);
  if ('update' in request) return notes.update(request.update, { rank: request.rank });
  return notes.insert({ title: request.create, rank: request.rank });
}

const readNotes = async () => new Map((await allNotes()).map((note) => [note.id, note]));

test('Interleaved creates, reads, updates and deletes answer as one statement for each would', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 40 }), async (requests) => {
      await sql`truncate note restart identity`.execute(db);
      await sql`insert into note (title, rank) select 'note ' || n, n from generate_series(1, 8) n`.execute(db);
      const before = await readNotes();
      const answers = await Promise.all(requests.map(async (each) => ({ ...each, got: await outcome(send(each)) })));
      const after = await readNotes();

      const removals = answers.filter((each) => 'remove' in each);
      const isRemoved = (id: number) => removals.some(({ remove }) => remove === id);
      const updates = (id: number) => answers.filter((each) => 'update' in each).filter(({ update }) => update === id);
      const created = answers.filter((each) => 'create' in each).filter(({ got }) => 'value' in got);
      for (const answer of answers) {
        const { got } = answer;
        if ('read' in answer) {
          // It sees what was there before, or what another request has made of it.
          const note = before.get(answer.read);
          const seen = [note, ...updates(answer.read).map(({ rank }) => note && { ...note, rank })];
          if (isRemoved(answer.read)) seen.push(undefined);
          expect(seen.map((value) => ({ value }))).toContainEqual(got);
        } else if ('update' in answer) {
          const { update, rank } = answer;
          const isMissing = isRemoved(update) || !before.has(update);
          const updated = rank === TOO_MUCH ? { code: '22003' } : { value: before.has(update) };
          expect([updated, ...(isMissing ? [{ value: false }] : [])]).toContainEqual(got);
        } else if ('create' in answer) {
          const { create: title, rank } = answer;
          if (title === '') expect(got).toEqual({ code: '23514' });
          else if (title.length > 20) expect(got).toEqual({ code: '22001' });
          else if ('value' in got) expect(after.get(got.value as number)).toEqual({ id: got.value, title, rank });
          else {
            expect(got).toEqual({ code: '23505' });
            const others = [...[...before.values()].map((note) => note.title), ...created.map((each) => each.create)];
            expect(others).toContain(title);
          }
        }
      }
      for (const { remove } of removals) {
        const done = removals.filter((each) => each.remove === remove && 'value' in each.got && each.got.value);
        expect(done).toHaveLength(before.has(remove) ? 1 : 0);
      }
      const left = [...before.values()].filter(({ id }) => !isRemoved(id));
      for (const note of left) {
        const made = updates(note.id).flatMap(({ rank, got }) => ('value' in got ? [{ ...note, rank }] : []));
        expect(made.length > 0 ? made : [note]).toContainEqual(after.get(note.id));
      }
      const ids = [
        ...left.map((note) => note.id),
        ...created.map(({ got }) => ('value' in got ? got.value : undefined)),
      ];
      expect(new Set(after.keys())).toEqual(new Set(ids));
      expect(after.size).toBe(ids.length);
    }),
    { numRuns: 300 },
  );
});

test('When connections are cut under them, inserts fail, or get the ids of their rows, of which none is lost', async () => {
  // A cut may still run when its round has ended and the next one begins.
  const cut = sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
    and state = 'active' and query ilike '%json_populate%' and query not like '%pg_terminate_backend%'`;
  const ids = new Map<string, number>();
  let failures = 0;
  for (let round = 0; failures === 0 || ids.size < 1_000; round += 1) {
    const titles = Array.from({ length: 640 }, (_, n) => `${n} in ${round}`);
    const outcomes = Promise.all(titles.map((each) => outcome(create(each))));
    const areOver = outcomes.then(() => true);
    while (!(await Promise.race([areOver, cut.execute(observer).then(({ rows }) => rows.length > 0)])));
    (await outcomes).forEach((got, n) => {
      if ('value' in got) ids.set(titles[n]!, got.value as number);
      else failures += 1;
    });
  }
  const idOf = new Map((await allNotes()).map(({ id, title }) => [title, id]));
  for (const [title, id] of ids) expect([title, idOf.get(title)]).toEqual([title, id]);
  expect(idOf.size).toBeLessThanOrEqual(ids.size + failures);
});
