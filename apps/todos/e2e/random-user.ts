import type { Page } from 'playwright-core';
import { settles } from '../test/browser.ts';

/** A text that took the place of another one, as its writer meant. */
export interface Edit {
  from: string;
  to: string;
  /** The page has asked, and the other's text was chosen. */
  isDropped?: boolean;
  isUndone?: boolean;
}

/** What a user has meant to do. */
interface Diary {
  added: string[];
  edits: Edit[];
  /** Last state that was wanted, by the text that the todo was added with. */
  ticks: Map<string, boolean>;
  hasUndone: boolean;
}

/** The text with which a todo was added, before it was edited. */
export const nameOf = (text: string) => text.split('.')[0]!;

/**
 * A user who does at random what people do, and keeps a diary of it.
 * @param isBlocked whether the browser stores nothing: then the page says to leave it open until all is sent
 */
export function randomUser(page: Page, name: string, random: (below: number) => number, isBlocked: boolean) {
  const diary: Diary = { added: [], edits: [], ticks: new Map(), hasUndone: false };
  let isOffline = false;
  const goToList = async () => {
    await page.getByRole('link', { name: 'All todos' }).first().click();
    await page.getByRole('textbox', { name: 'New todo' }).waitFor();
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
      // Chosen, read and clicked in one task, because rows come and go.
      const ticked = await page.locator('.todos [type=checkbox]').evaluateAll((boxes: HTMLInputElement[], dice) => {
        const box = boxes[dice % boxes.length];
        if (!box) return undefined;
        const isWanted = !box.checked;
        box.click();
        return { text: box.getAttribute('aria-label')!.replace('Done: ', ''), isWanted };
      }, random(1_000));
      if (ticked) diary.ticks.set(nameOf(ticked.text), ticked.isWanted);
    },
    async edit() {
      // A todo that has not been sent has no form.
      const isOpened = await page.locator('.todos .more').evaluateAll((links: HTMLElement[], dice) => {
        links[dice % links.length]?.click();
        return links.length > 0;
      }, random(1_000));
      if (!isOpened) return;
      await page.locator('main').getByRole('link', { name: 'Edit' }).click();
      const field = page.locator('textarea');
      await field.or(page.locator('.failure')).first().waitFor();
      const asked = page.locator('.versions');
      // One that shows what was typed earlier is left as it is.
      const isUsed = (await asked.count()) > 0 || (await page.getByText('What you typed here before').count()) > 0;
      if ((await field.count()) > 0 && !isUsed) {
        const from = await field.inputValue();
        const edit: Edit = { from, to: `${nameOf(from)}.${name}${diary.edits.length}` };
        await field.fill(edit.to);
        diary.edits.push(edit);
        await page.getByRole('button', { name: 'Save' }).click();
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
      const [, text] = /Undone: “(.*)” is “/.exec(await page.locator('.notices').innerText()) ?? [];
      for (const edit of diary.edits) if (edit.to === text) edit.isUndone = true;
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
      if (isBlocked) return;
      await page.reload();
      await page.getByRole('textbox', { name: 'New todo' }).waitFor();
    },
  };
  const weights = { add: 3, tick: 3, edit: 2, undo: 1, search: 1, connection: 1, reload: 1 };
  const often = Object.entries(weights).flatMap(([action, times]) => Array<string>(times).fill(action));
  return {
    diary,
    step: () => actions[often[random(often.length)] as keyof typeof actions](),
    /** Goes online, and drops what the page asks about, until all has been sent. */
    async finish() {
      await page.context().setOffline(false);
      const unsent = async () => {
        // Another list has not all rows, and one that is loading no search.
        const search = page.getByRole('searchbox');
        if ((await search.count()) > 0) await search.fill('');
        if (page.url().includes('?')) return 1;
        const stuck = page.getByRole('status').filter({ hasText: /(is|are) not saved\./ });
        if ((await stuck.count()) > 0) {
          await stuck.locator('details').evaluateAll((all) => all.forEach((each) => each.setAttribute('open', '')));
          const words = stuck.locator('bdi').first();
          const text = await words.innerText();
          for (const edit of diary.edits) if (edit.to === text) edit.isDropped = true;
          await stuck.getByRole('button', { name: 'Discard' }).first().click();
          await stuck.getByText(text, { exact: true }).waitFor({ state: 'hidden' });
        }
        // Otherwise the page waits longer after each failure.
        const again = page.getByRole('status').getByRole('button', { name: 'Try again' });
        if ((await again.count()) > 0)
          await again.evaluate((button: HTMLElement) => button.click()).catch(() => undefined);
        // Rows have a clock until they are saved. A page without its list shows none of them.
        const unfinished = await page.locator('.waiting, .loading, .failure').count();
        // Afterwards, because what waits may be refused at any moment.
        return unfinished + (await stuck.count());
      };
      // A request that was on its way when the connection went ends by the page's time limit of 15 seconds.
      await settles(unsent, 0).catch(() => settles(unsent, 0));
    },
  };
}
