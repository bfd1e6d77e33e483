import { test } from '@jest/globals';
import fc from 'fast-check';
import { sql, type Kysely } from 'kysely';
import { recountRows } from '../src/index.ts';
import { newConnection, db, expectExact, fold, taskCounts, insert, type Tables } from './task-table.ts';

const residue = fc.integer({ min: 0, max: 6 });
const write = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ insert: fc.integer({ min: 1, max: 60 }), step: fc.constantFrom(1, 40, 700, 20_000) }),
  },
  { weight: 2, arbitrary: fc.record({ remove: residue }) },
  { weight: 2, arbitrary: fc.record({ toggle: residue }) },
  { weight: 2, arbitrary: fc.record({ generated: fc.integer({ min: 1, max: 600 }) }) },
  { weight: 1, arbitrary: fc.constant({ truncate: true as const }) },
);
const transaction = fc.record({
  isolation: fc.constantFrom('read committed', 'read committed', 'repeatable read', 'serializable'),
  writes: fc.array(write, { minLength: 1, maxLength: 5 }),
  end: fc.constantFrom('commit', 'commit', 'rollback'),
});
const script = fc.array(transaction, { minLength: 1, maxLength: 4 });
type Generated<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;

/** The last two: another connection has changed a row since the snapshot, or has taken an explicit id. */
const BLOCKED = ['55P03', '40P01', '40001', '23505'];
function ignoreBlocked(error: unknown) {
  if (!BLOCKED.includes((error as { code: string }).code)) throw error;
}

let nextId = 1;
async function perform(on: Kysely<Tables>, step: Generated<typeof write>) {
  if ('insert' in step) {
    const first = nextId;
    nextId += step.insert * step.step;
    await insert(on, first, step.insert, step.step);
  } else if ('generated' in step)
    await sql`insert into task (status) select case when n % 3 = 0 then 'done' else 'open' end
      from generate_series(1, ${step.generated}::int) n`.execute(on);
  else if ('remove' in step) await sql`delete from task where id % 7 = ${step.remove}`.execute(on);
  else if ('toggle' in step)
    await sql`update task set status = case status when 'open' then 'done' else 'open' end
      where id % 7 = ${step.toggle}`.execute(on);
  else await sql`truncate task`.execute(on);
}

async function run(on: Kysely<Tables>, transactions: Generated<typeof script>) {
  for (const { isolation, writes, end } of transactions) {
    await sql`begin isolation level ${sql.raw(isolation)}`.execute(on);
    try {
      for (const step of writes) await perform(on, step);
      await sql.raw(end).execute(on);
    } catch (error) {
      await sql`rollback`.execute(on);
      ignoreBlocked(error);
    }
  }
}

test('Counts and pages are exact whatever connections write, fold, recount, commit and roll back', async () => {
  const writers = Array.from({ length: 4 }, newConnection);
  const [reader, folder] = [newConnection(), newConnection()];
  // A wait for a row that another connection has changed may be part of a circle.
  for (const each of [...writers, reader, folder]) await sql`set lock_timeout = '100ms'`.execute(each);

  await fc.assert(
    fc.asyncProperty(fc.tuple(script, script, script, script), fc.array(fc.nat(2_000)), async (scripts, offsets) => {
      const running = new Set(scripts.keys());
      const written = scripts.map((each, index) => run(writers[index]!, each).finally(() => running.delete(index)));
      const maintained = (async () => {
        for (let round = 1; running.size > 0; round += 1) {
          // Most folds leave changes, so that some that are skipped for ever would be found.
          const bound = round % 4 === 0 ? undefined : 3;
          await (round % 5 === 0 ? recountRows(folder, taskCounts) : fold(folder, bound)).catch(ignoreBlocked);
        }
      })();
      while (running.size > 0) await expectExact(reader).catch(ignoreBlocked);
      await Promise.all([...written, maintained]);
      await expectExact(db, offsets);
      while ((await fold()) > 0);
      await expectExact(db, offsets);
    }),
    { numRuns: 20 },
  );
});
