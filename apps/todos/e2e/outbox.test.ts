import { describe, expect, test } from '@jest/globals';
import { hides, paste, phone, settles, shows, useService } from '../test/browser.ts';

const ui = useService();
const { page, open, proxy, setOffline, store, stored, rows, link, checkbox, button, field, description, add } = ui;

const unsent = () => page().locator('.banner li').allInnerTexts();

describe('What was done is not lost', () => {
  test('by a reload offline: adds, ticks and texts', async () => {
    await store('Buy milk', 'Rest');
    await open('/todos');
    await page().reload();
    await setOffline(true);
    await add('Buy bread', 'Buy soap');
    await checkbox('Rest').check();
    await link('Edit: Buy milk').click();
    await description().fill('Buy oat milk');
    await button('Save').click();
    await shows(page(), '4 changes are not sent yet.');
    await page().goto('/todos');
    await shows(page(), '4 changes are not sent yet. This browser keeps them until you are back online.');
    const marked = ['Buy soap', 'Buy bread', 'Buy oat milk', 'Rest'].map((text) => `${text}\nNot sent yet`);
    await settles(rows, marked);
    await page().getByText('Which?').click();
    await settles(unsent, ['New: Buy bread', 'New: Buy soap Discard', 'Done: Rest', 'Text: Buy oat milk']);
    await setOffline(false);
    await settles(stored, ['Buy oat milk', '✓ Rest', 'Buy bread', 'Buy soap']);
    await hides(page(), 'not sent yet');
    expect(proxy().count('POST')).toBe(2);
  });

  test('by a reload on a slow network: 40 pasted lines stay, once and in their order', async () => {
    const lines = Array.from({ length: 40 }, (_, n) => `Line ${n + 1}`);
    await open('/todos');
    const release = proxy().hold('POST', 5);
    await field().focus();
    await paste(page(), lines.join('\n'));
    await button('Add 40 todos').click();
    await settles(() => proxy().count('POST'), 5);
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
    const other = await page().context().newPage();
    await page().close();
    await other.context().setOffline(false);
    await other.goto('/');
    await settles(stored, ['Buy milk']);
    await other.close();
  });

  test('where a response is: one row, and one tick, however often they are sent', async () => {
    await store('Rest');
    await open('/todos');
    proxy().fault = ({ method = '' }) =>
      method !== 'GET' && proxy().count(method) < 2 ? { lose: 'response' } : undefined;
    await add('Buy milk', 'Buy bread');
    await checkbox('Rest').check();
    await settles(stored, ['✓ Rest', 'Buy milk', 'Buy bread']);
    await hides(page(), 'not sent yet');
    const keys = proxy().seen.flatMap(({ key }) => key ?? []);
    expect(keys.length).toBeGreaterThan(2);
    expect(new Set(keys).size).toBe(2);
    expect(await stored()).toEqual(['✓ Rest', 'Buy milk', 'Buy bread']);
    expect(await checkbox('Rest').isChecked()).toBe(true);
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
      await settles(() => tab.getByRole('listitem').allInnerTexts(), ['Four', 'Three', 'Two', 'One']);
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
    await link('Open the form').click();
    await settles(
      () => page().locator('#description-error').innerText(),
      'Description must not contain NUL or unpaired surrogates',
    );
    await description().fill('ab');
    await button('Save').click();
    await settles(stored, ['ab']);
    await hides(page(), 'is not saved');
  });
});

describe('What is not sent', () => {
  test('has one calm line with a count, also for many changes on a phone', async () => {
    const more = Array.from({ length: 8 }, (_, n) => `Number ${n}`);
    await page().setViewportSize(phone);
    await store('Buy milk', 'Sweep');
    await open('/todos');
    await checkbox('Sweep').waitFor();
    await setOffline(true);
    await checkbox('Sweep').check();
    await add(...more);
    await page().getByRole('status').filter({ hasText: '9 changes are not sent yet.' }).waitFor();
    expect(await page().getByRole('alert').getByText(/./).count()).toBe(0);
    expect(await page().locator('.notice').count()).toBeLessThanOrEqual(1);
    await setOffline(false);
    await settles(stored, ['Buy milk', '✓ Sweep', ...more]);
    await hides(page(), 'You are offline.');
  });

  test('can be discarded, if it is a new todo that was never sent', async () => {
    await open('/todos');
    await setOffline(true);
    await add('First', 'Second');
    await page().getByText('Which?').click();
    // The first may have been sent.
    await button('Discard').click();
    await shows(page(), '1 change is not sent yet.');
    await setOffline(false);
    await settles(stored, ['First']);
    await hides(page(), 'not sent yet');
    expect(await stored()).toEqual(['First']);
  });
});
