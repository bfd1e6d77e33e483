import { describe, expect, test } from '@jest/globals';
import { isLoaded, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, stored, heading, button, checkbox, field, press, focused } = ui;

describe('By keyboard alone', () => {
  test('everything is reached, seen and used: create, toggle, edit', async () => {
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
    await page().locator('textarea:focus').waitFor();
    await page().keyboard.type('Buy milk');
    await press('Tab');
    expect(await focused()).toBe('Save');
    await press('Enter');
    await page().locator('h1:focus').waitFor();
    await checkbox('Buy milk').waitFor();
    // Field and button for a new one, three filters, search, selection.
    await press('Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab');
    expect(await focused()).toBe('Done: Buy milk');
    await press('Space');
    await settles(stored, ['✓ Buy milk']);
    expect(await focused()).toBe('Done: Buy milk');
    await press('F2');
    await page().locator('.todos textarea:focus').waitFor();
    await page().keyboard.type('!');
    await press('Enter');
    await settles(stored, ['✓ Buy milk!']);
    expect(await focused()).toBe('Done: Buy milk!');
    await press('Tab');
    expect(await focused()).toBe('Details: Buy milk!');
    await press('Enter', 'Tab', 'Tab');
    await heading('Buy milk!').waitFor();
  });
});

describe('By its keys', () => {
  test('n, / and ? lead to the field, the search and the list of keys', async () => {
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
    await page().locator('[type=search]:focus').waitFor();
    await page().goto('/');
    await isLoaded(page());
    await press('n');
    await page().locator('textarea:focus').waitFor();
  });

  test('can be turned off, since they may be in the way of speech or habit', async () => {
    await open('/todos', 'Buy milk');
    await button('Keyboard shortcuts').click();
    await checkbox('Use n, / and ?').uncheck();
    await button('Close').click();
    await page().reload();
    await isLoaded(page());
    await press('n');
    expect(await focused()).not.toBe('New todo');
  });

  test('arrows walk through the list, and Space ticks', async () => {
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
});
