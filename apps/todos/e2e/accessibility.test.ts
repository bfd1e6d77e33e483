import { describe, expect, test } from '@jest/globals';
import { hold, isLoaded, phone, settles, shows, useService } from '../test/browser.ts';

const { page, store, stored, breakDatabase } = useService();

describe('By keyboard alone', () => {
  test('everything is reached, seen and used: create, toggle, edit', async () => {
    const press = (...keys: string[]) =>
      keys.reduce((before, key) => before.then(() => page().keyboard.press(key)), Promise.resolve());
    const focused = () =>
      page().evaluate(() => {
        const { activeElement } = document;
        return activeElement?.getAttribute('aria-label') ?? activeElement?.textContent.trim();
      });
    await page().goto('/');
    await shows(page(), 'There are no todos yet.');
    await press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await press('Tab', 'Tab', 'Tab');
    expect(await focused()).toBe('New todo');
    const outline = await page().evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
    expect(outline).toBe('solid');
    await press('Enter');
    await page().locator('textarea:focus').waitFor();
    await page().keyboard.type('Buy milk');
    await press('Tab');
    expect(await focused()).toBe('Save');
    await press('Enter');
    await page().locator('h1:focus').waitFor();
    await page().getByRole('checkbox').waitFor();
    // Field and button for a new one, three filters, search, selection.
    await press('Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab');
    expect(await focused()).toBe('Done: Buy milk');
    await press('Space');
    await settles(stored, ['✓ Buy milk']);
    expect(await focused()).toBe('Done: Buy milk');
    await press('Tab');
    expect(await focused()).toBe('Buy milk');
    await press('Tab');
    expect(await focused()).toBe('Edit: Buy milk');
    await press('Enter');
    await page().getByRole('heading', { name: 'Edit todo' }).waitFor();
  });

  test('the skip link leads past the header', async () => {
    await store('Buy milk');
    await page().goto('/todos');
    await page().getByRole('checkbox').waitFor();
    await page().keyboard.press('Tab');
    await page().keyboard.press('Enter');
    await page().keyboard.press('Tab');
    expect(await page().evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true);
  });
});

describe('A screen reader', () => {
  test('hears what was saved, what failed and how many todos are listed', async () => {
    await store('Buy milk');
    await page().goto('/todos');
    await page().getByRole('status').filter({ hasText: '1 todo is listed' }).waitFor({ state: 'attached' });
    const mend = await breakDatabase();
    await page().getByRole('checkbox').click();
    await page().getByRole('status').filter({ hasText: '1 change is not sent yet.' }).waitFor();
    await mend();
    await page().getByRole('status').filter({ hasText: '“Buy milk” is done.' }).waitFor();
    await page().goto('/todos/edit/1');
    await page().getByRole('button', { name: 'Save' }).click();
    await page().getByRole('status').filter({ hasText: 'Saved.' }).waitFor();
  });
});

describe('The system’s settings', () => {
  test('choose between light and dark', async () => {
    const background = () => page().evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await page().goto('/');
    await page().emulateMedia({ colorScheme: 'light' });
    const light = await background();
    await page().emulateMedia({ colorScheme: 'dark' });
    expect(await background()).not.toBe(light);
  });

  test('for forced colours leave done and open apart: the browser draws the boxes', async () => {
    await store('Buy milk', '✓ Buy bread');
    await page().emulateMedia({ forcedColors: 'active' });
    await page().goto('/todos');
    const looks = await page()
      .getByRole('checkbox')
      .first()
      .evaluate((box) => getComputedStyle(box).appearance);
    expect(looks).toBe('auto');
  });

  test('stop all motion where they ask for less', async () => {
    const moving = () =>
      page().evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running').length);
    await hold(page(), 'GET');
    await page().goto('/todos');
    await page().locator('.loading').waitFor();
    expect(await moving()).toBeGreaterThan(0);
    await page().emulateMedia({ reducedMotion: 'reduce' });
    expect(await moving()).toBe(0);
  });

  test('may enlarge the text to twice its size without anything being cut off', async () => {
    await store(`${'long '.repeat(50)}end`);
    await page().setViewportSize(phone);
    for (const path of ['/', '/todos', '/todos/1', '/todos/edit/1']) {
      await page().goto(path);
      await isLoaded(page());
      await page().evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
      const widths = await page().evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      expect([path, widths[0]! <= widths[1]!]).toEqual([path, true]);
    }
  });
});
