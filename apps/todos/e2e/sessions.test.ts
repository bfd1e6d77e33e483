// Two users at random: SESSIONS=1-200 npx nx e2e todos -- sessions
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import { openTestConnection, processesOf } from '@rest-services/testing';
import { sql, type Kysely } from 'kysely';
import { connectBrowser, openPage, openWithWorker, settles } from '../test/browser.ts';
import { useProxy } from '../test/proxy.ts';
import { blockStorage, setAhead, translate } from './odd-browser.ts';
import { nameOf, randomUser } from './random-user.ts';
import type { TodosDatabase } from '../src/database.ts';

const [first = 1, last = 2] = (process.env.SESSIONS ?? '').split('-').filter(Boolean).map(Number);
const seeds = Array.from({ length: last - first + 1 }, (_, n) => first + n);

/** Number of things that the two users do. */
const STEPS = 36;

/** High enough for all rows. */
const viewport = { width: 900, height: 4_000 };

const browser = await connectBrowser();
afterAll(() => browser.close());
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

async function restartServer() {
  service.child.kill('SIGKILL');
  await service.ended;
  await startServer();
}

beforeEach(async () => {
  await startServer();
  db = openTestConnection<TodosDatabase>(processes.database.url);
  await sql`create table audit (at bigint generated always as identity, todo bigint, was text, becomes text)`.execute(
    db,
  );
  await sql`create function audit() returns trigger language plpgsql as $$ begin
    insert into audit (todo, was, becomes) values (new.id, old.description, new.description); return new; end $$`.execute(
    db,
  );
  await sql`create trigger audit after insert or update on todo for each row execute function audit()`.execute(db);
});

/** Random numbers from a seed (mulberry32). */
function randomOf(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

test.each(seeds)('Two users lose, double and overwrite nothing: seed %i', async (seed) => {
  const random = randomOf(seed);
  const users = await Promise.all(
    ['A', 'B'].map(async (name) => {
      const { page, errors } = await openPage(browser, { viewport });
      const isBlocked = random(4) === 0;
      if (isBlocked) await blockStorage(page);
      if (random(3) === 0) await setAhead(page, 1);
      if (random(3) === 0) await translate(page, false);
      await openWithWorker(page, `${proxy().url}/todos`);
      return { name, page, errors, ...randomUser(page, name, random, isBlocked) };
    }),
  );
  proxy().fault = () => {
    const dice = random(20);
    if (dice === 0) return { lose: 'response' };
    if (dice === 1) return { lose: 'request' };
    // A slow proxy, on either way.
    return dice < 6 ? { [dice < 4 ? 'before' : 'after']: sleep(random(600)) } : undefined;
  };
  for (let step = 0; step < STEPS; step += 1) {
    if (random(18) === 0) await restartServer();
    await users[random(2)]!.step();
  }
  proxy().fault = undefined;
  await Promise.all(users.map((user) => user.finish()));

  const { rows: audit } = await sql<{ was: string | null; becomes: string }>`
    select was, becomes from audit order by at`.execute(db);
  const inserted = audit.filter(({ was }) => was === null).map(({ becomes }) => becomes);
  expect(inserted.sort()).toEqual(users.flatMap(({ diary }) => diary.added).sort());

  // Each new text took the place of the one that its writer saw, once; undo put that back. One whose response was lost, and that the
  // other has changed then, may be asked about though it was saved.
  const rewritten = audit.filter(({ was, becomes }) => was !== null && was !== becomes);
  const written = rewritten.map(({ was, becomes }) => `${was!} > ${becomes}`);
  const edits = users.flatMap(({ diary }) => diary.edits);
  const name = ({ from, to }: { from: string; to: string }) => `${from} > ${to}`;
  const undone = edits.map(({ from, to }) => name({ from: to, to: from }));
  const dropped = edits.filter(({ isDropped }) => isDropped).map(name);
  const meant = edits.map(name).filter((each) => !dropped.includes(each));
  expect(written.filter((each) => ![...undone, ...dropped].includes(each)).sort()).toEqual(meant.sort());
  for (const each of [...undone, ...dropped]) expect(written.filter((other) => other === each).length).toBeLessThan(2);

  const stored = await db.selectFrom('todo').selectAll().orderBy('id', 'desc').execute();
  for (const { description, isCompleted } of stored) {
    const wanted = users.filter(({ diary }) => diary.ticks.has(nameOf(description)));
    const [user, other] = wanted;
    if (!user || other || user.diary.hasUndone) continue;
    expect([description, isCompleted === 1]).toEqual([description, user.diary.ticks.get(nameOf(description))]);
  }

  // The pages say the same, before and after a reload.
  const shown = [0, 1].flatMap((done) => stored.filter(({ isCompleted }) => isCompleted === done));
  for (const { page, errors } of users) {
    const looks = () =>
      page
        .locator('.todos li')
        .evaluateAll((rows) =>
          rows.map(
            (row) =>
              `${row.querySelector('input')!.checked ? '✓ ' : ''}${row.querySelector<HTMLElement>('.text')!.innerText}`,
          ),
        );
    await page.goto(`${proxy().url}/todos`);
    await settles(
      looks,
      shown.map(({ description, isCompleted }) => `${isCompleted ? '✓ ' : ''}${description}`),
    );
    expect(errors).toEqual([]);
    await page.context().close();
  }
});
