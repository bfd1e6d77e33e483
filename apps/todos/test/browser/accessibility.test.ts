import AxeBuilder from '@axe-core/playwright';
import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { desktop, hold, isLoaded, phone, settles, shows, useService } from './harness.ts';

const { page, store, stored, breakDatabase } = useService();

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The pages and the states that they can be in. */
const states: { name: string; path: string; prepare?: (page: Page) => Promise<unknown> }[] = [
  { name: 'home', path: '/' },
  { name: 'the list', path: '/todos' },
  { name: 'the list, nothing found', path: '/todos?q=zebra' },
  { name: 'the list, filtered', path: '/todos?show=done' },
  { name: 'details', path: '/todos/1' },
  { name: 'details of a done todo', path: '/todos/2' },
  { name: 'the new form', path: '/todos/new' },
  { name: 'the edit form', path: '/todos/edit/2' },
  { name: 'a missing todo', path: '/todos/99' },
  { name: 'a missing page', path: '/nowhere' },
  {
    name: 'the form with a mistake',
    path: '/todos/new',
    prepare: async (page) => {
      await page.getByLabel('Description').fill('x'.repeat(300));
      await page.getByRole('button', { name: 'Save' }).click();
      await shows(page, 'too long');
    },
  },
  {
    name: 'the form, saving',
    path: '/todos/new',
    prepare: async (page) => {
      await hold(page, 'POST');
      await page.getByLabel('Description').fill('Buy milk');
      await page.getByRole('button', { name: 'Save' }).click();
      await shows(page, 'Saving…');
    },
  },
  {
    name: 'the form, restored',
    path: '/todos/new',
    prepare: async (page) => {
      await page.getByLabel('Description').fill('Buy milk');
      await page.reload();
      await shows(page, 'has been kept');
    },
  },
  {
    name: 'a notice that something was saved',
    path: '/todos/edit/1',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Save' }).click();
      await shows(page, 'Saved.');
    },
  },
  {
    name: 'a toggle that failed',
    path: '/todos',
    prepare: async (page) => {
      await page.getByRole('checkbox').first().waitFor();
      await page.route('**/api/todos/*', (route) => route.abort());
      await page.getByRole('checkbox').first().click();
      await shows(page, 'is still open');
    },
  },
  {
    name: 'a save that failed',
    path: '/todos/new',
    prepare: async (page) => {
      await page.route('**/api/todos', (route) => route.abort());
      await page.getByLabel('Description').fill('Buy milk');
      await page.getByRole('button', { name: 'Save' }).click();
      await shows(page, 'could not be saved');
    },
  },
  {
    name: 'a list that does not load, offline',
    path: '/todos/new',
    prepare: async (page) => {
      await page.context().setOffline(true);
      await page.getByRole('link', { name: 'All todos' }).first().click();
      await shows(page, 'Your todos could not be loaded.');
    },
  },
  {
    name: 'a list that loads',
    path: '/todos/new',
    prepare: async (page) => {
      await hold(page, 'GET');
      await page.getByRole('link', { name: 'All todos' }).first().click();
      await page.getByText('Loading…').waitFor({ state: 'attached' });
    },
  },
];

describe('axe finds nothing in light or dark, at 375 or 1280 pixels', () => {
  test.each(states)('on $name', async ({ path, prepare }) => {
    await store('Buy milk', '✓ Buy bread', `${'long '.repeat(50)}end`);
    // Colours on their way to others would be measured.
    await page().emulateMedia({ reducedMotion: 'reduce' });
    await page().goto(path);
    await isLoaded(page());
    await prepare?.(page());
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const viewport of [phone, desktop]) {
        await page().emulateMedia({ colorScheme });
        await page().setViewportSize(viewport);
        // It has no frames to look into, and needs no second page for them.
        const { violations } = await new AxeBuilder({ page: page() }).withTags(standards).setLegacyMode().analyze();
        const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => [id, node.html, node.failureSummary]));
        expect([colorScheme, viewport, found]).toEqual([colorScheme, viewport, []]);
      }
    }
  });
});

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
    await press('Tab', 'Tab', 'Tab', 'Tab', 'Tab');
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
    await page().getByRole('alert').filter({ hasText: 'is still open' }).waitFor();
    await mend();
    await page().goto('/todos/edit/1');
    await page().getByRole('button', { name: 'Save' }).click();
    await page().getByRole('status').filter({ hasText: 'Saved.' }).waitFor();
  });

  test('finds a heading of level 1, landmarks and the language on every page', async () => {
    await store('Buy milk');
    for (const path of ['/', '/todos', '/todos/1', '/todos/new', '/todos/edit/1', '/nowhere']) {
      await page().goto(path);
      await isLoaded(page());
      expect(await page().getByRole('heading', { level: 1 }).count()).toBe(1);
      expect(await page().getByRole('main').count()).toBe(1);
      expect(await page().getByRole('navigation', { name: 'Main' }).count()).toBe(1);
      expect(await page().locator('html').getAttribute('lang')).toBe('en');
    }
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
