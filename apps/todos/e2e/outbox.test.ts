import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { hides, paste, settles, shows, useService } from '../test/browser.ts';
import { gate, openWithWorker, useProxy } from './proxy.ts';

const { page, service, store, stored } = useService({ serviceWorkers: 'allow' });

const proxy = useProxy(() => service().url);
const open = (path: string, tab: Page = page()) => openWithWorker(tab, proxy().url + path);

const setOffline = (isOffline: boolean) => page().context().setOffline(isOffline);
const rows = (of = page()) => of.getByRole('listitem').allInnerTexts();
const checkbox = (name: string) => page().getByRole('checkbox', { name });
const field = () => page().getByRole('textbox', { name: 'New todo' });
const description = () => page().getByLabel('Description', { exact: true });
const button = (name: string) => page().getByRole('button', { name, exact: true });

const change = (id: number, description: string, isCompleted: 0 | 1 = 0) =>
  service().request('PUT', '/api/todos', { id, description, isCompleted });

async function add(...texts: string[]) {
  for (const text of texts) {
    await field().fill(text);
    await field().press('Enter');
  }
}

describe('Nobody’s edit is overwritten', () => {
  test('by a tick of a list that is older', async () => {
    await store('Buy milk');
    await open('/todos');
    await change(1, 'Buy oat milk');
    await checkbox('Buy milk').check();
    await settles(stored, ['✓ Buy oat milk']);
    await settles(rows, ['Buy oat milk']);
    expect(
      proxy()
        .seen.filter(({ method }) => method === 'PUT')
        .map(({ status }) => status),
    ).toEqual([412, 200]);
  });

  test('by a tick that is on its way meanwhile', async () => {
    await store('Buy milk');
    await open('/todos');
    const { open: release, opened } = gate();
    const { open: arrive, opened: arrived } = gate();
    proxy().fault = ({ method }) => {
      if (method !== 'PUT') return undefined;
      arrive();
      return { before: opened };
    };
    await checkbox('Buy milk').check();
    await arrived;
    await change(1, 'Buy oat milk');
    release();
    await settles(stored, ['✓ Buy oat milk']);
  });

  test('by a tick made offline, on a list that the service worker has kept', async () => {
    await store('Buy milk', 'Rest');
    await open('/todos');
    await page().reload();
    await setOffline(true);
    await page().reload();
    await checkbox('Buy milk').check();
    await shows(page(), '1 change is not sent yet.');
    await change(1, 'Buy oat milk');
    await setOffline(false);
    await settles(stored, ['✓ Buy oat milk', 'Rest']);
    for (const { method, ifMatch } of proxy().seen) {
      if (method === 'PUT') expect(ifMatch).toMatch(/^"[\w-]{27}"/);
    }
  });

  test('by a text made offline: the page asks which one is to stay', async () => {
    await store('Buy milk');
    await open('/todos/edit/1');
    await page().reload();
    await setOffline(true);
    await description().fill('Buy oat milk');
    await button('Save').click();
    await shows(page(), '1 change is not sent yet.');
    await change(1, 'Buy rye bread');
    await page().reload();
    await setOffline(false);
    await shows(page(), '“Buy oat milk” is not saved. It has been changed meanwhile.');
    expect(await stored()).toEqual(['Buy rye bread']);
    await page().getByRole('link', { name: 'Open the form' }).click();
    await page().getByRole('radio', { name: 'Yours, open Buy oat milk' }).check();
    await button('Save').click();
    await settles(stored, ['Buy oat milk']);
    await hides(page(), 'is not saved');
  });

  test('by a text that waits for a choice; what was done after it is sent when it is discarded', async () => {
    await store('Buy milk');
    await open('/todos/edit/1');
    await setOffline(true);
    await description().fill('Buy oat milk');
    await button('Save').click();
    await shows(page(), '1 change is not sent yet.');
    await change(1, 'Buy rye bread');
    await button('Mark as done').click();
    await setOffline(false);
    await shows(page(), '“Buy oat milk” is not saved.');
    await button('Discard').click();
    await settles(stored, ['✓ Buy rye bread']);
    await hides(page(), 'is not saved');
  });

  test.each([
    ['W/"…"', (tag: string) => `W/${tag}`],
    ['"…-gzip"', (tag: string) => tag.replace(/"$/, '-gzip"')],
    ['another one', () => '"of-a-proxy"'],
  ])('behind a proxy that makes tags %s; a save ends saved', async (_name, changed) => {
    await store('Buy milk');
    proxy().fault = () => ({
      headers: ({ etag, ...headers }) => ({ ...headers, ...(etag ? { etag: changed(etag) } : {}) }),
    });
    await open('/todos/edit/1');
    await change(1, 'Buy milk', 1);
    await description().fill('Buy oat milk');
    await button('Save').click();
    await shows(page(), 'Saved.');
    expect(await stored()).toEqual(['✓ Buy oat milk']);
  });

  test('where each tag is refused; a save ends with a message', async () => {
    await store('Buy milk');
    await open('/todos/edit/1');
    const refused = { status: 412, headers: { 'content-type': 'application/json' }, body: '{"message":"Changed"}' };
    proxy().fault = ({ method }) => (method === 'PUT' ? { answer: refused } : undefined);
    await description().fill('Buy oat milk');
    await button('Save').click();
    await shows(page(), 'The server does not take it for the latest version, though it is. 1 change is not sent yet.');
    expect(await stored()).toEqual(['Buy milk']);
  });
});

describe('What was done is not lost', () => {
  test('by a reload offline: adds, ticks and texts', async () => {
    await store('Buy milk', 'Rest');
    await open('/todos');
    await page().reload();
    await setOffline(true);
    await add('Buy bread', 'Buy soap');
    await checkbox('Rest').check();
    await page().getByRole('link', { name: 'Edit: Buy milk' }).click();
    await description().fill('Buy oat milk');
    await button('Save').click();
    await shows(page(), '4 changes are not sent yet.');
    await page().goto(`${proxy().url}/todos`);
    await shows(page(), '4 changes are not sent yet.');
    await settles(
      async () => (await rows()).map((row) => row.split('\n')[0]),
      ['Buy soap', 'Buy bread', 'Buy oat milk', 'Rest'],
    );
    await page().getByText('Which?').click();
    await settles(
      () => page().locator('.banner li').allInnerTexts(),
      ['New: Buy bread', 'New: Buy soap Discard', 'Done: Rest', 'Text: Buy oat milk'],
    );
    await setOffline(false);
    await settles(stored, ['Buy oat milk', '✓ Rest', 'Buy bread', 'Buy soap']);
    await hides(page(), 'not sent yet');
    expect(proxy().count('POST')).toBe(2);
  });

  test('by a reload on a slow network: 40 pasted lines stay, once and in their order', async () => {
    const lines = Array.from({ length: 40 }, (_, n) => `Line ${n + 1}`);
    await open('/todos');
    const { open: release, opened } = gate();
    let posts = 0;
    proxy().fault = ({ method }) => (method === 'POST' && (posts += 1) > 5 ? { before: opened } : undefined);
    await field().focus();
    await paste(page(), lines.join('\n'));
    await button('Add 40 todos').click();
    await settles(() => Promise.resolve(posts >= 6), true);
    await page().reload();
    release();
    await settles(stored, lines);
    await settles(async () => (await rows()).slice(0, 2), ['Line 40', 'Line 39']);
  });

  test('by closing the tab', async () => {
    await open('/todos');
    await setOffline(true);
    await add('Buy milk');
    await shows(page(), '1 change is not sent yet.');
    const context = page().context();
    const other = await context.newPage();
    await page().close();
    await setOffline(false);
    await other.goto(`${proxy().url}/`);
    await settles(stored, ['Buy milk']);
    await other.close();
  });

  test('where the response is: one row, however often it is sent', async () => {
    await open('/todos');
    proxy().fault = ({ method }) => (method === 'POST' && proxy().count('POST') < 2 ? { lose: 'response' } : undefined);
    await add('Buy milk', 'Buy bread');
    await settles(stored, ['Buy milk', 'Buy bread']);
    await hides(page(), 'not sent yet');
    const keys = proxy()
      .seen.filter(({ method }) => method === 'POST')
      .map(({ key }) => key);
    expect(keys.length).toBeGreaterThan(2);
    expect(new Set(keys).size).toBe(2);
    expect(await stored()).toEqual(['Buy milk', 'Buy bread']);
  });

  test('in two tabs, of which one sends for both', async () => {
    await open('/todos');
    const other = await page().context().newPage();
    await open('/todos', other);
    await setOffline(true);
    await add('One', 'Two', 'Three');
    await other.getByRole('textbox', { name: 'New todo' }).fill('Four');
    await other.keyboard.press('Enter');
    await shows(other, '4 changes are not sent yet.');
    await setOffline(false);
    await settles(stored, ['One', 'Two', 'Three', 'Four']);
    for (const tab of [page(), other]) {
      await hides(tab, 'not sent yet');
      await settles(() => rows(tab), ['Four', 'Three', 'Two', 'One']);
    }
    expect(proxy().count('POST')).toBe(4);
    await other.close();
  });

  test('a new todo that is ticked before it was sent is ticked', async () => {
    await open('/todos');
    await setOffline(true);
    await add('Buy milk');
    await checkbox('Buy milk').check();
    await shows(page(), '2 changes are not sent yet.');
    await setOffline(false);
    await settles(stored, ['✓ Buy milk']);
    await settles(rows, ['Buy milk']);
  });

  test('what the service refuses can be opened, mended and saved', async () => {
    await open('/todos');
    await add('a\0b');
    await shows(page(), 'is not saved. Description must not contain NUL or unpaired surrogates');
    await page().reload();
    await page().getByRole('link', { name: 'Open the form' }).click();
    await description().fill('ab');
    await button('Save').click();
    await settles(stored, ['ab']);
    await hides(page(), 'is not saved');
  });
});
