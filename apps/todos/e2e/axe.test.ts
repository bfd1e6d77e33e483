import { describe, expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { desktop, hold, isLoaded, paste, phone, shows, useService } from '../test/browser.ts';

const { page, service, store } = useService();

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const changeFirst = (description: string) =>
  service().db.updateTable('todo').set({ description }).where('id', '=', 1).execute();

/** The pages and the states that they can be in. */
const states: { name: string; path: string; prepare?: (page: Page) => Promise<unknown> }[] = [
  { name: 'home', path: '/' },
  { name: 'the list', path: '/todos' },
  { name: 'the list, nothing found', path: '/todos?q=zebra' },
  { name: 'the list, filtered', path: '/todos?show=done' },
  { name: 'details', path: '/todos/1' },
  { name: 'details with a link', path: '/todos/3' },
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
    name: 'changes that could not be sent',
    path: '/todos',
    prepare: async (page) => {
      await page.getByRole('checkbox').first().waitFor();
      await page.context().setOffline(true);
      await page.getByRole('checkbox').first().click();
      await page.getByLabel('New todo').fill('Buy soap');
      await page.keyboard.press('Enter');
      await shows(page, '2 changes are not sent yet.');
      await page.getByText('Which?').click();
    },
  },
  {
    name: 'a save that was refused, elsewhere',
    path: '/todos/new',
    prepare: async (page) => {
      await page.getByLabel('Description').fill('a\0b');
      await page.getByRole('button', { name: 'Save' }).click();
      await shows(page, 'must not contain NUL');
      await page.getByRole('link', { name: 'All todos' }).first().click();
      await shows(page, 'is not saved.');
    },
  },
  {
    name: 'a todo that another client has changed',
    path: '/todos/edit/1',
    prepare: async (page) => {
      await changeFirst('Buy rye bread');
      await page.getByLabel('Description').fill('Buy oat milk');
      await page.getByRole('button', { name: 'Save' }).click();
      await shows(page, 'Which one is to stay?');
      await page.getByRole('button', { name: 'Save' }).click();
      await shows(page, 'Choose one of them first.');
    },
  },
  {
    name: 'a todo that another client has changed, chosen',
    path: '/todos/edit/1',
    prepare: async (page) => {
      await changeFirst('Buy rye bread');
      await page.getByLabel('Description').fill('Buy oat milk');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('radio', { name: 'Stored now' }).check();
    },
  },
  {
    name: 'a todo that another client has deleted',
    path: '/todos/edit/1',
    prepare: async (page) => {
      await page.getByLabel('Description').fill('Buy oat milk');
      await service().db.deleteFrom('todo').execute();
      await page.getByRole('button', { name: 'Save' }).click();
      await shows(page, 'This todo is no longer there.');
    },
  },
  {
    name: 'the list, a todo that is too long above it',
    path: '/todos',
    prepare: async (page) => {
      await page.getByLabel('New todo').fill('x'.repeat(300));
      await shows(page, 'too long');
    },
  },
  {
    name: 'the list, a tick that can be undone',
    path: '/todos',
    prepare: async (page) => {
      await page.getByRole('checkbox').first().click();
      await page.getByRole('button', { name: 'Undo' }).waitFor();
    },
  },
  {
    name: 'the list, several todos being ticked',
    path: '/todos',
    prepare: async (page) => {
      await hold(page, 'PUT');
      await page.getByRole('button', { name: 'Select' }).click();
      await page.getByRole('button', { name: 'All', exact: true }).click();
      await page.getByRole('button', { name: 'Mark as done' }).click();
      await page.getByRole('progressbar').waitFor();
    },
  },
  {
    name: 'the list, todos being selected',
    path: '/todos',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Select' }).click();
      await shows(page, '0 selected');
      await page.getByRole('checkbox').first().click();
      await shows(page, '1 selected');
    },
  },
  {
    name: 'the question about several lines',
    path: '/todos',
    prepare: async (page) => {
      await page.getByLabel('New todo').focus();
      await paste(page, `One\nTwo\nThree\nFour\n${'x'.repeat(300)}`);
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'the list of keys',
    path: '/todos',
    prepare: async (page) => {
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
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
    await store('Buy milk', '✓ Buy bread', `${'long '.repeat(40)}https://example.org/a`);
    // Colours on their way to others would be measured.
    await page().emulateMedia({ reducedMotion: 'reduce' });
    await page().goto(path);
    await isLoaded(page());
    await prepare?.(page());
    await findsNothing(page());
  });

  test('on the page without JavaScript', async () => {
    // axe needs scripts, so the page shows what browsers without them show.
    await page().route('**/', async (route) => {
      const response = await route.fetch();
      const html = (await response.text()).replace(/<script.*?<\/script>|<\/?noscript>|<div id="app">.*?<\/div>/gs, '');
      await route.fulfill({ response, body: html });
    });
    await page().goto('/');
    await page().getByRole('heading', { name: 'Todos needs JavaScript' }).waitFor();
    await findsNothing(page());
  });
});

async function findsNothing(page: Page) {
  await page.evaluate(axe.source);
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const viewport of [phone, desktop]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      expect([colorScheme, viewport, await violations(page)]).toEqual([colorScheme, viewport, []]);
    }
  }
}

/** In the page, `axe` is what its source has put there. */
const violations = (page: Page) =>
  page.evaluate(async (standards) => {
    const { violations: found } = await axe.run({ runOnly: standards, resultTypes: ['violations'] });
    return found.flatMap(({ id, nodes }) => nodes.map((node) => [id, node.html, node.failureSummary]));
  }, standards);
