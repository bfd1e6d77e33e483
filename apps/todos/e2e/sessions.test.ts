// Two users at random: SESSIONS=1-200 npx nx e2e todos -- sessions
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { openTestConnection, startProcess } from '@rest-services/testing';
import { sql, type Kysely } from 'kysely';
import type { Browser, Page } from 'playwright-core';
import { connectBrowser, openPage, settles } from '../test/browser.ts';
import { openWithWorker, useProxy } from './proxy.ts';
import type { TodosDatabase } from '../src/database.ts';

const [first = 1, last = 2] = (process.env.SESSIONS ?? '').split('-').filter(Boolean).map(Number);
const seeds = Array.from({ length: last - first + 1 }, (_, n) => first + n);

/** Number of things that the two users do. */
const STEPS = 36;

/** High enough for all rows. */
const viewport = { width: 900, height: 4_000 };

let database: TestDatabase;
let db: Kysely<TodosDatabase>;
let browser: Browser;
let service: ReturnType<typeof startProcess>;
let url: string;
const proxy = useProxy(() => url);

async function startServer() {
  service = startProcess('dist/main.js', {
    NODE_ENV: 'production',
    SHUTDOWN_DELAY_MS: '0',
    DATABASE_URL: database.url,
  });
  url = await service.listening();
}

async function restartServer() {
  service.child.kill('SIGKILL');
  await service.ended;
  await startServer();
}

beforeAll(async () => {
  [database, browser] = await Promise.all([createTestDatabase(), connectBrowser()]);
  await startServer();
  db = openTestConnection<TodosDatabase>(database.url);
  await sql`create table audit (at bigint generated always as identity, todo bigint, was text, becomes text)`.execute(
    db,
  );
  await sql`create function audit() returns trigger language plpgsql as $$ begin
    insert into audit (todo, was, becomes) values (new.id, old.description, new.description); return new; end $$`.execute(
    db,
  );
  await sql`create trigger audit after insert or update on todo for each row execute function audit()`.execute(db);
});
afterAll(async () => {
  await browser.close();
  service.child.kill('SIGKILL');
  await service.ended;
  await db.destroy();
  await database.drop();
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

/** What a user has meant to do. */
interface Diary {
  added: string[];
  /** Texts by those that they replaced; `isDropped` where the page asked, and the other's was chosen. */
  edits: { from: string; to: string; isDropped?: boolean }[];
  /** Last state that was wanted, by the text that the todo was added with. */
  ticks: Map<string, boolean>;
  hasUndone: boolean;
}

const nameOf = (text: string) => text.split('.')[0]!;

function actionsOf(page: Page, name: string, random: (below: number) => number) {
  const diary: Diary = { added: [], edits: [], ticks: new Map(), hasUndone: false };
  let isOffline = false;
  const goToList = async () => {
    await page.getByRole('link', { name: 'All todos' }).first().click();
    await page.getByRole('textbox', { name: 'New todo' }).waitFor();
  };
  /** A row of a todo that is in the list; those that have not been sent have no form. */
  const someRow = async (selector: string) => {
    const rows = page.locator(selector);
    const count = await rows.count();
    return count > 0 ? rows.nth(random(count)) : undefined;
  };
  const actions = {
    async add() {
      const text = `${name}${diary.added.length}`;
      const field = page.getByRole('textbox', { name: 'New todo' });
      await field.fill(text);
      diary.added.push(text);
      await field.press('Enter');
    },
    async tick() {
      const box = await someRow('.todos [type=checkbox]');
      // Read and clicked in one task, so that what is noted is what is clicked.
      const ticked = await box?.evaluate((input: HTMLInputElement) => {
        const text = input.getAttribute('aria-label')!.replace('Done: ', '');
        const isWanted = !input.checked;
        input.click();
        return { text, isWanted };
      });
      if (ticked) diary.ticks.set(nameOf(ticked.text), ticked.isWanted);
    },
    async edit() {
      const pencil = await someRow('.todos .edit');
      if (!pencil) return;
      await pencil.evaluate((link: HTMLElement) => link.click());
      const field = page.locator('textarea');
      const isOpen = await Promise.race([
        field.waitFor().then(() => true),
        page
          .locator('.failure')
          .first()
          .waitFor()
          .then(() => false),
      ]).catch(() => false);
      if (isOpen && (await field.count()) > 0 && (await page.locator('.versions').count()) === 0) {
        const from = await field.inputValue();
        const edit: Diary['edits'][number] = { from, to: `${nameOf(from)}.${name}${diary.edits.length}` };
        await field.fill(edit.to);
        diary.edits.push(edit);
        await page.getByRole('button', { name: 'Save' }).click();
        const asked = page.locator('.versions');
        await Promise.race([field.waitFor({ state: 'detached' }), asked.waitFor()]);
        if ((await asked.count()) > 0) {
          edit.isDropped = true;
          await page.getByRole('link', { name: 'Cancel' }).click();
          await field.waitFor({ state: 'detached' });
        }
      }
      await goToList();
    },
    async undo() {
      diary.hasUndone = true;
      await page.locator('h1').press('ControlOrMeta+z');
    },
    async search() {
      const text = ['', 'A', 'B1', '.'][random(4)]!;
      const field = page.getByRole('searchbox');
      // An empty list has none.
      if ((await field.count()) > 0) await field.fill(text);
    },
    async connection() {
      isOffline = !isOffline;
      await page.context().setOffline(isOffline);
    },
    async reload() {
      await page.reload();
      await page.getByRole('textbox', { name: 'New todo' }).waitFor();
    },
  };
  const often = [
    'add',
    'add',
    'add',
    'tick',
    'tick',
    'tick',
    'edit',
    'edit',
    'undo',
    'search',
    'connection',
    'reload',
  ] as const;
  return {
    diary,
    step: () => actions[often[random(often.length)]!](),
    /** Goes online, and drops what the page asks about, until all has been sent. */
    async finish() {
      await page.context().setOffline(false);
      const unsent = async () => {
        const stuck = page.getByRole('alert').locator('.failure').filter({ hasText: 'is not saved' }).first();
        if ((await stuck.count()) > 0) {
          const [, text] = /“(.*)” is not saved/.exec(await stuck.innerText())!;
          for (const edit of diary.edits) if (edit.to === text) edit.isDropped = true;
          await stuck.getByRole('button', { name: 'Discard' }).click();
          await page.getByText(`“${text!}” is not saved`).waitFor({ state: 'hidden' });
        }
        // Otherwise the page waits longer after each failure.
        const again = page.getByRole('status').getByRole('button', { name: 'Try again' });
        if ((await again.count()) > 0)
          await again.evaluate((button: HTMLElement) => button.click()).catch(() => undefined);
        return page.evaluate(async () => {
          const database = await new Promise<IDBDatabase>((resolve) => {
            const request = indexedDB.open('todos');
            request.onsuccess = () => resolve(request.result);
          });
          const changes = await new Promise<{ state: string }[]>((resolve) => {
            const request = database.transaction('outbox').objectStore('outbox').getAll();
            request.onsuccess = () => resolve(request.result as { state: string }[]);
          });
          database.close();
          return changes.filter(({ state }) => state !== 'done');
        });
      };
      // A request that was on its way when the connection went ends by the page's time limit of 15 seconds.
      await settles(unsent, []).catch(() => settles(unsent, []));
    },
  };
}

test.each(seeds)('Two users lose, double and overwrite nothing: seed %i', async (seed) => {
  await sql`truncate todo, audit restart identity`.execute(db);
  const random = randomOf(seed);
  const users = await Promise.all(
    ['A', 'B'].map(async (name) => {
      const { page, errors } = await openPage(browser, { viewport, serviceWorkers: 'allow' });
      await openWithWorker(page, `${proxy().url}/todos`);
      return { name, page, errors, ...actionsOf(page, name, random) };
    }),
  );
  proxy().fault = () => {
    const dice = random(20);
    if (dice === 0) return { lose: 'response' };
    return dice === 1 ? { lose: 'request' } : undefined;
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

  // The pages say the same, before and after they are read anew.
  const shown = [0, 1].flatMap((done) => stored.filter(({ isCompleted }) => isCompleted === done));
  for (const { page, errors } of users) {
    const looks = () =>
      page
        .locator('.todos li')
        .evaluateAll((rows) =>
          rows.map((row) => `${row.querySelector('input')!.checked ? '✓ ' : ''}${row.querySelector('a')!.innerText}`),
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
