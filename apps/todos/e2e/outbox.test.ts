import { describe, expect, test } from '@jest/globals';
import { hides, openWithWorker, paste, phone, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, proxy, setOffline, stored, rows, link, checkbox, button, field, description, add } = ui;

const unsent = () => page().locator('.banner li').allInnerTexts();

describe('What was done is not lost', () => {
  test('by a reload offline: adds, ticks and texts, also several of one todo', async () => {
    await page().setViewportSize(phone);
    await open('/todos', 'Buy milk', 'Rest');
    await page().reload();
    await setOffline(true);
    await add('Buy bread', 'Buy soap');
    await checkbox('Rest').check();
    await checkbox('Buy milk').check();
    await checkbox('Buy soap').check();
    await ui.editInPlace('Buy milk', 'Buy oat milk');
    await page().getByRole('status').filter({ hasText: '6 changes are not sent yet.' }).waitFor();
    // One calm line, however many they are.
    expect(await page().getByRole('alert').getByText(/./).count()).toBe(0);
    expect(await page().locator('.notice').count()).toBeLessThanOrEqual(1);
    await page().goto('/todos');
    await shows(page(), '6 changes are not sent yet. This browser keeps them until you are back online.');
    const marked = ['Buy bread', 'Buy soap', 'Rest', 'Buy oat milk'].map((text) => `${text}\nNot sent yet`);
    await settles(rows, marked);
    await page().getByText('Which?').click();
    const ofExisting = ['Done: Rest', 'Done: Buy milk', 'Done: Buy soap', 'Text: Buy oat milk'];
    await settles(unsent, ['New: Buy bread', 'New: Buy soap Discard', ...ofExisting]);
    await axeFindsNothing(page());
    await setOffline(false);
    await settles(stored, ['✓ Buy oat milk', '✓ Rest', 'Buy bread', '✓ Buy soap']);
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
    await open('/todos', 'Rest');
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

  test('in two tabs, each of which sends its own', async () => {
    await open('/todos');
    const other = await page().context().newPage();
    await openWithWorker(other, `${proxy().url}/todos`);
    await setOffline(true);
    await add('One', 'Two', 'Three');
    await other.getByRole('textbox', { name: 'New todo' }).fill('Four');
    await other.keyboard.press('Enter');
    await shows(other, '4 changes are not sent yet.');
    await setOffline(false);
    await settles(async () => (await stored()).sort(), ['Four', 'One', 'Three', 'Two']);
    for (const tab of [page(), other]) {
      await hides(tab, 'not sent yet');
      await settles(() => tab.getByRole('listitem').allInnerTexts(), (await stored()).reverse());
    }
    expect(proxy().count('POST')).toBe(4);
    await other.close();
  });

  test('what the service refuses can be opened, mended and saved', async () => {
    await open('/todos');
    await add('a\0b');
    const words = 'It has a character that cannot be stored.';
    await shows(page(), `is not saved. ${words}`);
    await page().reload();
    await shows(page(), 'is not saved.');
    await axeFindsNothing(page());
    await link('Open the form').click();
    await settles(() => page().locator('#description-error').innerText(), words);
    await description().fill('ab');
    await button('Save').click();
    await settles(stored, ['ab']);
    await hides(page(), 'is not saved');
  });
});

test('A new todo that was never sent can be discarded', async () => {
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
