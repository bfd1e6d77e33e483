// Two users at random: SESSIONS=1-200 npx nx e2e todos -- sessions
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openTestConnection, processesOf, useProxy } from '@rest-services/testing';
import { sql, type Kysely } from 'kysely';
import { connectBrowser, openPage, openWithWorker, settles } from '../test/browser.ts';
import { blockStorage, setAhead, translate } from './odd-browser.ts';
import { nameOf, randomUser, type Edit } from './random-user.ts';
import type { TodosDatabase } from '../src/database.ts';

const [first = 1, last = 2] = (process.env.SESSIONS ?? '').split('-').filter(Boolean).map(Number);
const seeds = Array.from({ length: last - first + 1 }, (_, n) => first + n);

/** Number of things that the two users do. */
const STEPS = 36;

const browser = await connectBrowser();
afterEach(() => db.destroy());
const processes = processesOf('dist/main.js');
const proxy = useProxy(() => url);
let db: Kysely<TodosDatabase>;
let service: ReturnType<typeof processes.start>;
let url: string;

async function startServer() {
  service = processes.start({ NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' });
  url = await service.listening();
}

beforeEach(async () => {
  await startServer();
  db = openTestConnection<TodosDatabase>(processes.database.url);
  await sql`
    create table audit (at bigint generated always as identity, was text, becomes text);
    create function audit() returns trigger language plpgsql as $$ begin
      insert into audit (was, becomes) values (old.description, new.description); return new; end $$;
    create trigger audit after insert or update on todo for each row execute function audit()`.execute(db);
});

/** Random numbers from a seed. */
function randomOf(seed: string) {
  let count = 0;
  return (below: number) => parseInt(hash('sha1', `${seed} ${(count += 1)}`).slice(0, 12), 16) % below;
}

type Written = Pick<Edit, 'from' | 'to'>;

/**
 * Expects that each text took the place of the one that its writer saw, once, that an undo put that back, and that nothing else was
 * written. An edit may be missing where its writer has given it up while another's text stood there: undone before it was sent, or
 * dropped when the page asked.
 */
function expectWritten(edits: Edit[], written: Written[]) {
  const timesOf = ({ from, to }: Written) => written.filter((each) => each.from === from && each.to === to).length;
  const undoOf = ({ from, to }: Written) => ({ from: to, to: from });
  /** Whether another text has taken the place of the one that is replaced, or that was never stored. */
  const isOutdated = ({ from, to }: Written) =>
    written.some((each) => each.from === from && each.to !== to) ||
    (from !== nameOf(from) && !written.some((each) => each.to === from));
  const isGivenUp = (edit: Edit): boolean =>
    edit.isDropped === true ||
    edit.isUndone === true ||
    // Texts of one todo that have not been sent are one text.
    edits.some((later) => later.from === edit.to && timesOf(later) === 0 && isGivenUp(later));
  const isRight = (edit: Edit) => {
    const [times, timesUndone] = [timesOf(edit), timesOf(undoOf(edit))];
    if (times === 0) return timesUndone === 0 && isGivenUp(edit) && isOutdated(edit);
    return times === 1 && (timesUndone === 1 || (timesUndone === 0 && (!edit.isUndone || isOutdated(undoOf(edit)))));
  };
  expect(edits.filter((edit) => !isRight(edit))).toEqual([]);
  const meant = edits.flatMap((edit) => [edit, undoOf(edit)]);
  expect(written.filter(({ from, to }) => !meant.some((each) => each.from === from && each.to === to))).toEqual([]);
}

test.each(seeds)('Two users lose, double and overwrite nothing: seed %i', async (seed) => {
  // The proxy has its own, so that how many requests there are does not decide what the users do.
  const [random, chance] = [randomOf(`users ${seed}`), randomOf(`proxy ${seed}`)];
  const users = await Promise.all(
    ['A', 'B'].map(async (name) => {
      // High enough for all rows.
      const { page, errors } = await openPage(browser, { viewport: { width: 900, height: 4_000 } });
      const isBlocked = random(4) === 0;
      if (isBlocked) await blockStorage(page);
      if (random(3) === 0) await setAhead(page, 1);
      if (random(3) === 0) await translate(page, false);
      await openWithWorker(page, `${proxy.url}/todos`);
      return { page, errors, ...randomUser(page, name, random, isBlocked) };
    }),
  );
  proxy.fault = () => {
    const dice = chance(20);
    if (dice === 0) return { lose: 'response' };
    if (dice === 1) return { lose: 'request' };
    // A slow proxy, on either way.
    return dice < 6 ? { [dice < 4 ? 'before' : 'after']: sleep(chance(600)) } : undefined;
  };
  for (let step = 0; step < STEPS; step += 1) {
    if (random(18) === 0) {
      service.child.kill('SIGKILL');
      await service.ended;
      await startServer();
    }
    await users[random(2)]!.step();
  }
  proxy.fault = undefined;
  await Promise.all(users.map((user) => user.finish()));

  const { rows: audit } = await sql<{ was: string | null; becomes: string }>`
    select was, becomes from audit order by at`.execute(db);
  const inserted = audit.filter(({ was }) => was === null).map(({ becomes }) => becomes);
  expect(inserted.sort()).toEqual(users.flatMap(({ diary }) => diary.added).sort());
  const written = audit.flatMap(({ was: from, becomes: to }) => (from === null || from === to ? [] : { from, to }));
  const edits = users.flatMap(({ diary }) => diary.edits);
  expectWritten(edits, written);

  const stored = await db.selectFrom('todo').selectAll().orderBy('id', 'desc').execute();
  for (const { description, isCompleted } of stored) {
    const wanted = users.filter(({ diary }) => diary.ticks.has(nameOf(description)));
    const [user, other] = wanted;
    if (!user || other || user.diary.hasUndone) continue;
    expect([description, isCompleted === 1]).toEqual([description, user.diary.ticks.get(nameOf(description))]);
  }

  // The pages say the same after a reload.
  const [open, done] = [0, 1].map((state) => stored.filter(({ isCompleted }) => isCompleted === state));
  const shown = [[...open!, ...done!], done!].map((todos) => todos.map(({ description }) => description));
  for (const { page, errors } of users) {
    await page.goto(`${proxy.url}/todos`);
    const texts = (rows: string) => page.locator(`.todos ${rows} .text`).allInnerTexts();
    await settles(async () => [await texts('.row'), await texts('.row:has(:checked)')], shown);
    expect(errors).toEqual([]);
    await page.context().close();
  }
});
