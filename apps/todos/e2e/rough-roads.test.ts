import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { desktop, hides, phone, settles, shows, useService } from '../test/browser.ts';

const { page, service, store, stored, breakDatabase } = useService();

const description = () => page().getByLabel('Description', { exact: true });
const save = () => page().getByRole('button', { name: 'Save' });
const setOffline = (isOffline: boolean) => page().context().setOffline(isOffline);

/** A phone whose keyboard is open. */
const lowPhone = { width: 375, height: 400 };

describe('What failed offline is done when the connection is back, and “You are offline.” goes:', () => {
  async function saveOffline() {
    await page().goto('/todos/new');
    await description().fill('Buy milk');
    await setOffline(true);
    await save().click();
    await shows(page(), 'This could not be saved. You are offline.');
  }

  test('a save', async () => {
    await saveOffline();
    await setOffline(false);
    await shows(page(), 'Saved.');
    await hides(page(), 'You are offline.');
    expect(await stored()).toEqual(['Buy milk']);
  });

  test('a save whose form has been left', async () => {
    await saveOffline();
    await page().getByRole('link', { name: 'Todos', exact: true }).click();
    await shows(page(), '“Buy milk” could not be saved. You are offline. It is saved when you are back online.');
    await setOffline(false);
    await shows(page(), 'Saved.');
    await hides(page(), 'You are offline.');
    expect(await stored()).toEqual(['Buy milk']);
    await page().getByRole('link', { name: 'New todo' }).first().click();
    expect(await description().inputValue()).toBe('');
  });

  test('a save whose form has been left and opened again, with what it has become', async () => {
    await saveOffline();
    await page().getByRole('link', { name: 'Todos', exact: true }).click();
    await page().getByRole('link', { name: 'New todo' }).first().click();
    await shows(page(), 'This could not be saved. You are offline.');
    await hides(page(), '“Buy milk” could not be saved.');
    await description().fill('Buy bread');
    await hides(page(), 'This could not be saved.');
    await save().click();
    await shows(page(), 'This could not be saved. You are offline.');
    await setOffline(false);
    await settles(stored, ['Buy bread']);
    await page().getByRole('heading', { name: 'All todos' }).waitFor();
  });

  test('toggles, however many', async () => {
    const names = ['Buy milk', 'Buy bread', 'Pay the rent', 'Call Ada', 'Sweep'];
    await store(...names);
    await page().goto('/todos');
    await page().getByRole('checkbox').first().waitFor();
    await setOffline(true);
    for (const name of names) {
      const checkbox = page().getByRole('checkbox', { name });
      await checkbox.click();
      await shows(page(), `“${name}” is still open. You are offline.`);
      expect(await checkbox.isChecked()).toBe(false);
    }
    await setOffline(false);
    await settles(
      stored,
      names.map((name) => `✓ ${name}`),
    );
    await hides(page(), 'You are offline.');
  });

  test('not a save that was cancelled', async () => {
    await saveOffline();
    await page()
      .getByRole('link', { name: 'Cancel' })
      .evaluate((link: HTMLElement) => {
        link.click();
        // The connection may be back before the form has gone.
        dispatchEvent(new Event('online'));
      });
    await page().getByRole('heading', { name: 'All todos' }).waitFor();
    await setOffline(false);
    await shows(page(), 'There are no todos yet.');
    expect(await stored()).toEqual([]);
  });

  test('a save that is sent again names itself as the same', async () => {
    const keys: (string | undefined)[] = [];
    page().on('request', (request) => {
      if (request.method() === 'POST') keys.push(request.headers()['idempotency-key']);
    });
    await page().goto('/todos/new');
    await page().route('**/api/todos', (route) => route.abort(), { times: 1 });
    await description().fill('Buy milk');
    await save().click();
    await shows(page(), 'This could not be saved.');
    await page().reload();
    await setOffline(true);
    await save().click();
    await shows(page(), 'This could not be saved. You are offline.');
    await setOffline(false);
    await shows(page(), 'Saved.');
    expect(keys).toEqual([expect.stringMatching(/^[\d-]{7,}$/), keys[0], keys[0]]);
  });
});

test('Notices never cover Save, on any window', async () => {
  await store('Buy milk', 'Buy bread', 'Sweep');
  await page().goto('/todos');
  await page().getByRole('checkbox').first().waitFor();
  const mend = await breakDatabase();
  for (const name of ['Buy milk', 'Buy bread', 'Sweep']) {
    await page().getByRole('checkbox', { name }).press('Space');
    await shows(page(), `“${name}” is still open.`);
  }
  await mend();
  await page().getByRole('link', { name: 'Edit: Buy milk' }).press('Enter');
  await description().fill('Words '.repeat(40));
  const windows = [phone, lowPhone, { width: 320, height: 256 }, desktop, { width: 740, height: 330 }];
  for (const window of windows) {
    await page().setViewportSize(window);
    for (const edge of ['top', 'bottom', 'Save']) {
      if (edge === 'Save') await save().scrollIntoViewIfNeeded();
      else await page().evaluate((to) => scrollTo(0, to === 'top' ? 0 : document.body.scrollHeight), edge);
      const saveBox = (await save().boundingBox())!;
      const notices = await page().locator('.notice').all();
      expect(notices.length).toBeGreaterThan(0);
      for (const notice of notices) {
        const { y, height } = (await notice.boundingBox())!;
        const isBeside = y >= saveBox.y + saveBox.height || y + height <= saveBox.y;
        expect([window, edge, isBeside]).toEqual([window, edge, true]);
      }
    }
    // Nothing but Save itself would take a click.
    await save().click({ trial: true });
  }
  await save().click();
  await shows(page(), 'Saved.');
});

test.each([phone, lowPhone])('A paste of 5,000 characters leaves error and Save in sight, at %j', async (viewport) => {
  await page().setViewportSize(viewport);
  await page().goto('/todos/new');
  await description().focus();
  await page().keyboard.insertText('word '.repeat(1000));
  const error = page().getByText('This is too long: 255 characters fit.');
  await error.waitFor();
  for (const element of [error, save()]) {
    const { y, height } = (await element.boundingBox())!;
    expect([y >= 0, y + height <= viewport.height]).toEqual([true, true]);
    const isOnTop = await element.evaluate((shown) => {
      const { x, y, width, height } = shown.getBoundingClientRect();
      return shown.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    });
    expect(isOnTop).toBe(true);
  }
});

describe('Without JavaScript', () => {
  test('the page says what to do', async () => {
    const context = await page().context().browser()!.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(`${service().url}/todos`);
    await plain.getByRole('heading', { name: 'Todos needs JavaScript' }).waitFor();
    await plain.getByRole('link', { name: 'reload this page' }).waitFor();
    expect(await plain.getByText('Loading…').isVisible()).toBe(false);
    await plain.getByRole('link', { name: 'as plain data' }).click();
    await plain.waitForURL('**/api/todos');
    await context.close();
  });
});

test('A long list is printed whole, in dark letters on white', async () => {
  await sql`insert into todo (description) select 'Todo number ' || n from generate_series(1, 1000) n`.execute(
    service().db,
  );
  await page().emulateMedia({ colorScheme: 'dark' });
  await page().goto('/todos');
  await page().getByRole('checkbox').first().waitFor();
  const rows = page().locator('.todos li');
  expect(await rows.count()).toBeLessThan(100);
  const pdf = (await page().pdf()).toString('latin1');
  const pages = pdf.match(/\/Type\s*\/Page\b/g) ?? [];
  expect(pages.length).toBeGreaterThan(1_000 / 40);
  // Afterwards the list is a short one again.
  await settles(async () => (await rows.count()) < 100, true);

  await page().evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page().emulateMedia({ colorScheme: 'dark', media: 'print' });
  await settles(() => rows.count(), 1_000);
  const colors = await page().evaluate(() => {
    const { color, backgroundColor } = getComputedStyle(document.documentElement);
    return [color, backgroundColor];
  });
  expect(colors).toEqual(['rgb(28, 32, 30)', 'rgb(255, 255, 255)']);
  expect(await page().getByRole('link', { name: 'Edit: ' }).count()).toBe(0);
});
