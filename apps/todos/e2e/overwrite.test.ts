import { describe, expect, test } from '@jest/globals';
import { hides, settles, shows, useService } from '../test/browser.ts';

const ui = useService();
const { page, open, proxy, setOffline, store, stored, change, rows, link, checkbox, button, description } = ui;

/** Saves a text offline that another person replaces by another one. */
async function writeOffline() {
  await open('/todos/edit/1', 'Buy milk');
  await page().reload();
  await setOffline(true);
  await description().fill('Buy oat milk');
  await button('Save').click();
  await shows(page(), '1 change is not sent yet.');
  await change(1, 'Buy rye bread');
}

describe('Nobody’s edit is overwritten', () => {
  test('by a tick of a list that is older', async () => {
    await open('/todos', 'Buy milk');
    await change(1, 'Buy oat milk');
    await checkbox('Buy milk').check();
    await settles(stored, ['✓ Buy oat milk']);
    await settles(rows, ['Buy oat milk']);
    expect(proxy().statuses('PUT')).toEqual([412, 200]);
  });

  test('by a tick made offline, on a list that the service worker has kept', async () => {
    await open('/todos', 'Buy milk', 'Rest');
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
    await writeOffline();
    await page().reload();
    await setOffline(false);
    await shows(page(), '“Buy oat milk” is not saved. It has been changed meanwhile.');
    expect(await stored()).toEqual(['Buy rye bread']);
    await link('Open the form').click();
    await page().getByRole('radio', { name: 'Yours, open Buy oat milk' }).check();
    await button('Save').click();
    await settles(stored, ['Buy oat milk']);
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
    await open('/todos/edit/1', 'Buy milk');
    const answer = { status: 412, headers: { 'content-type': 'application/json' }, body: '{"message":"Changed"}' };
    proxy().fault = ({ method }) => (method === 'PUT' ? { answer } : undefined);
    await description().fill('Buy oat milk');
    await button('Save').click();
    await shows(page(), 'The server does not take it for the latest version, though it is. 1 change is not sent yet.');
    expect(await stored()).toEqual(['Buy milk']);
  });
});
