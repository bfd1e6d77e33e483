import { expect, test } from '@jest/globals';
import { hides, isLoaded, paste, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, proxy, stored, rows, button, link, checkbox, field, add, press, focused, hasFocus } = ui;

test('By keyboard alone everything is reached, seen and used, and keeps its place', async () => {
  await open('/');
  await shows(page(), 'There are no todos yet.');
  await press('Tab');
  expect(await focused()).toBe('Skip to the content');
  await press('Enter', 'Tab');
  expect(await focused()).toBe('New todo');
  expect(await page().evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true);
  const outline = await page().evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
  expect(outline).toBe('solid');
  await press('Enter');
  await hasFocus('textarea');
  await page().keyboard.type('Buy milk');
  await press('Tab');
  expect(await focused()).toBe('Save');
  await press('Enter');
  await hasFocus('h1');
  await checkbox('Buy milk').waitFor();
  // Field and button for a new one, three filters, search, selection.
  await press('Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab');
  expect(await focused()).toBe('Done: Buy milk');
  await press('Space');
  await settles(stored, ['✓ Buy milk']);
  expect(await focused()).toBe('Done: Buy milk');
  await press('F2');
  await hasFocus('.todos textarea');
  await page().keyboard.type('!');
  await press('Enter');
  await settles(stored, ['✓ Buy milk!']);
  expect(await focused()).toBe('Done: Buy milk!');
  await press('Tab');
  expect(await focused()).toBe('Details: Buy milk!');
  await press('Enter');
  await hasFocus('h1:has-text("Buy milk!")');
  await link('Edit').press('Enter');
  await hasFocus('textarea');
  await page().goBack();
  await hasFocus('h1:has-text("Buy milk!")');
  await page().goBack();
  await hasFocus('.more');
  await page().goForward();
  await hasFocus('h1:has-text("Buy milk!")');
  await link('New todo').press('Enter');
  await hasFocus('textarea');
});

test('n, / and ? lead to field, search and list of keys, until turned off', async () => {
  await open('/todos', 'Buy milk');
  await checkbox('Buy milk').waitFor();
  await press('n');
  expect(await focused()).toBe('New todo');
  await press('n', '/', '?');
  expect(await field().inputValue()).toBe('n/?');
  await field().blur();
  await press('/');
  expect(await focused()).toBe('Search');
  await ui.searchField().blur();
  await press('?');
  await page().getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await axeFindsNothing(page());
  await press('Escape');
  await page().getByRole('dialog').waitFor({ state: 'detached' });

  await page().goto('/todos/1');
  await isLoaded(page());
  await press('/');
  await hasFocus('[type=search]');
  await page().goto('/');
  await isLoaded(page());
  await press('n');
  await hasFocus('textarea');

  // They may be in the way of speech or habit.
  await button('Keyboard shortcuts').click();
  await checkbox('Use n, / and ?').uncheck();
  await button('Close').click();
  await page().goto('/todos');
  await checkbox('Buy milk').waitFor();
  await press('n');
  expect(await focused()).not.toBe('New todo');
});

test('Arrows walk through the list, and Space ticks', async () => {
  await open('/todos', ...Array.from({ length: 100 }, (_, n) => `Number ${n + 1}`));
  await checkbox('Number 100').waitFor();
  await press('/', 'ArrowDown');
  expect(await focused()).toBe('Done: Number 100');
  for (let row = 0; row < 60; row += 1) await press('ArrowDown');
  expect(await focused()).toBe('Done: Number 40');
  await press('Tab', 'ArrowUp');
  expect(await focused()).toBe('Details: Number 41');
  await press('Space');
  await settles(async () => (await stored())[40], '✓ Number 41');
  expect(await focused()).toBe('Details: Number 41');
  for (let row = 0; row < 60; row += 1) await press('ArrowUp');
  expect(await focused()).toBe('Search');
});

test('The field above the list adds at Enter, keeps the focus and what is half typed', async () => {
  await open('/todos');
  await shows(page(), 'There are no todos yet.');
  // The only way to the first one.
  const others = page().getByRole('link', { name: /New|first/ });
  expect([await focused(), await others.count()]).toEqual(['New todo', 0]);
  const release = proxy.hold('POST');
  await add('Buy milk', 'Buy bread', '  Rest ', '   ');
  await button('Saving…').waitFor();
  expect([await focused(), await field().inputValue()]).toEqual(['New todo', '   ']);
  release();
  await settles(stored, ['Buy milk', 'Buy bread', 'Rest']);
  await settles(rows, ['Rest', 'Buy bread', 'Buy milk']);
  await button('Add').waitFor();
  await field().fill('Sle');
  await page().reload();
  await settles(() => field().inputValue(), 'Sle');
  await field().press('End');
  await press('e', 'p', 'Enter');
  await settles(stored, ['Buy milk', 'Buy bread', 'Rest', 'Sleep']);
  await page().reload();
  await settles(rows, ['Sleep', 'Rest', 'Buy bread', 'Buy milk']);
  expect(await field().inputValue()).toBe('');
  await page().goto('/todos?show=done');
  await add('Sweep');
  await shows(page(), '“Sweep” is saved, but not among those that are listed here.');
  expect(await rows()).toEqual([]);
});

test('Pasted lines become todos without marks after a question; a too long one stays', async () => {
  await open('/todos');
  await field().click();
  const list = '- [ ] Buy milk\r\n\n  - [x] Buy bread\n1. Rest\n\t• Sweep\n[X] Sleep\n2026 is near\n';
  await paste(page(), `${list}${'😀'.repeat(256)}\n`);
  await page().getByRole('dialog', { name: 'Make 6 todos of 7 lines?' }).getByText('1 of the lines').waitFor();
  await axeFindsNothing(page());
  expect(await stored()).toEqual([]);
  await press('Enter');
  await settles(stored, ['Buy milk', '✓ Buy bread', 'Rest', 'Sweep', '✓ Sleep', '2026 is near']);
  expect([await focused(), await field().inputValue()]).toEqual(['New todo', '😀'.repeat(256)]);
  await shows(page(), 'This is too long: 255 characters fit.');
  await axeFindsNothing(page());
  await field().fill('😀'.repeat(205));
  await shows(page(), '50 characters left');
  await field().fill('😀'.repeat(199));
  await hides(page(), 'characters left');
});

test('Pasted lines become one if that is wanted, or nothing', async () => {
  await open('/todos');
  await field().fill('Buy:');
  await field().press('End');
  await paste(page(), ' milk\nbread');
  await button('Cancel').press('Escape');
  await page().locator('dialog').waitFor({ state: 'detached' });
  expect([await focused(), await field().inputValue()]).toEqual(['New todo', 'Buy:']);
  await paste(page(), ' milk\nbread');
  await button('Paste as one line').click();
  await settles(() => field().inputValue(), 'Buy:milk bread');
  await press('Enter');
  await settles(stored, ['Buy:milk bread']);
});
