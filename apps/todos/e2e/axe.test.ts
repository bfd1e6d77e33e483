import { describe, expect, test } from '@jest/globals';
import axe from 'axe-core';
import { desktop, isLoaded, paste, phone, shows, useService } from '../test/browser.ts';

const ui = useService();
const { page, open, proxy, service, store, change, breakDatabase, setOffline, add } = ui;
const { heading, description, field, button, link, checkbox } = ui;

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

async function save(text: string) {
  await description().fill(text);
  await button('Save').click();
}

/** Tests a page in a state. */
function passes(name: string, path: string, prepare?: () => Promise<unknown>) {
  test(name, async () => {
    await store('Buy milk', '✓ Buy bread', `${'long '.repeat(40)}https://example.org/a`);
    // Colours on their way to others would be measured.
    await page().emulateMedia({ reducedMotion: 'reduce' });
    await open(path);
    await isLoaded(page());
    await prepare?.();
    await findsNothing();
  });
}

describe('axe finds nothing in light or dark, at 375 or 1280 pixels, on', () => {
  passes('home', '/');
  passes('the list', '/todos');
  passes('the list, nothing found', '/todos?q=zebra');
  passes('details with a link', '/todos/3');
  passes('details of a done todo', '/todos/2');
  passes('the edit form', '/todos/edit/2');
  passes('a missing todo', '/todos/99');

  passes('the form with a mistake', '/todos/new', async () => {
    await save('x'.repeat(300));
    await shows(page(), 'too long');
  });

  passes('the form, saving', '/todos/new', async () => {
    proxy().hold('POST');
    await save('Buy milk');
    await shows(page(), 'Saving…');
  });

  passes('the form, restored', '/todos/new', async () => {
    await description().fill('Buy milk');
    await page().reload();
    await shows(page(), 'has been kept');
  });

  passes('changes that could not be sent', '/todos', async () => {
    await setOffline(true);
    await checkbox('Buy milk').check();
    await add('Buy soap');
    await shows(page(), '2 changes are not sent yet.');
    await page().getByText('Which?').click();
  });

  passes('a save that was refused, elsewhere', '/todos/new', async () => {
    await save('a\0b');
    await shows(page(), 'must not contain NUL');
    await link('All todos').first().click();
    await shows(page(), 'is not saved.');
  });

  passes('a todo that another client has changed, before and after a choice', '/todos/edit/1', async () => {
    await change(1, 'Buy rye bread');
    await save('Buy oat milk');
    await shows(page(), 'Which one is to stay?');
    await button('Save').click();
    await shows(page(), 'Choose one of them first.');
    await findsNothing();
    await page().getByRole('radio', { name: 'Stored now' }).check();
  });

  passes('a todo that another client has deleted', '/todos/edit/1', async () => {
    await service().db.deleteFrom('todo').execute();
    await save('Buy oat milk');
    await shows(page(), 'This todo is no longer there.');
  });

  passes('a todo that is too long above the list', '/todos', async () => {
    await field().fill('x'.repeat(300));
    await shows(page(), 'too long');
  });

  passes('a tick that can be undone', '/todos', async () => {
    await checkbox('Buy milk').check();
    await button('Undo').waitFor();
  });

  passes('todos being selected, and ticked together', '/todos', async () => {
    proxy().hold('PUT');
    await button('Select').click();
    await checkbox('Buy milk').check();
    await shows(page(), '1 selected');
    await findsNothing();
    await button('All').click();
    await button('Mark as done').click();
    await page().getByRole('progressbar').waitFor();
  });

  passes('the question about several lines', '/todos', async () => {
    await field().focus();
    await paste(page(), `One\nTwo\nThree\nFour\n${'x'.repeat(300)}`);
    await page().getByRole('dialog').waitFor();
  });

  passes('the list of keys', '/todos', async () => {
    await page().keyboard.press('?');
    await page().getByRole('dialog').waitFor();
  });

  passes('a list that loads, and one that does not', '/todos/new', async () => {
    const release = proxy().hold('GET');
    await link('All todos').first().click();
    await page().getByText('Loading…').waitFor({ state: 'attached' });
    await findsNothing();
    const mend = await breakDatabase();
    release();
    await shows(page(), 'Your todos could not be loaded.');
    await mend();
  });

  test('the page without JavaScript', async () => {
    // axe needs scripts, so the page shows what browsers without them show.
    const html = await (await fetch(service().url)).text();
    const shown = html.replace(/<script.*?<\/script>|<\/?noscript>|<div id="app">.*?<\/div>/gs, '');
    await page().route('**/', (route) => route.fulfill({ body: shown, contentType: 'text/html' }));
    await page().goto('/');
    await heading('Todos needs JavaScript').waitFor();
    await findsNothing();
  });
});

async function findsNothing() {
  await page().evaluate(axe.source);
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const viewport of [phone, desktop]) {
      await page().emulateMedia({ colorScheme });
      await page().setViewportSize(viewport);
      const violations = await page().evaluate(async (standards) => {
        // What the source has put into the page.
        const { violations: found } = await axe.run({ runOnly: standards, resultTypes: ['violations'] });
        return found.flatMap(({ id, nodes }) => nodes.map((node) => [id, node.html, node.failureSummary]));
      }, standards);
      expect([colorScheme, viewport, violations]).toEqual([colorScheme, viewport, []]);
    }
  }
}
