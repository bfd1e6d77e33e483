import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { desktop, hides, phone, settles, shows, useService } from '../test/browser.ts';

const { page, service, store, stored } = useService();

const description = () => page().getByLabel('Description', { exact: true });
const save = () => page().getByRole('button', { name: 'Save' });
const setOffline = (isOffline: boolean) => page().context().setOffline(isOffline);

/** A phone whose keyboard is open. */
const lowPhone = { width: 375, height: 400 };

describe('What is done offline is sent when the connection is back, and “You are offline.” goes:', () => {
  async function saveOffline() {
    await page().goto('/todos/new');
    await description().fill('Buy milk');
    await setOffline(true);
    await save().click();
    await shows(page(), 'You are offline. What is shown may be out of date. 1 change is not sent yet.');
  }

  test('a save, whose form is left', async () => {
    await saveOffline();
    await page().getByRole('heading', { name: 'All todos' }).waitFor();
    await setOffline(false);
    await settles(stored, ['Buy milk']);
    await hides(page(), 'You are offline.');
    await page().getByRole('link', { name: 'New todo' }).first().click();
    expect(await description().inputValue()).toBe('');
  });

  test('many changes, of which one calm line has the count', async () => {
    const names = ['Buy milk', 'Buy bread', 'Pay the rent', 'Call Ada', 'Sweep'];
    await page().setViewportSize(phone);
    await store(...names);
    await page().goto('/todos');
    await page().getByRole('checkbox').first().waitFor();
    await setOffline(true);
    for (const name of names) await page().getByRole('checkbox', { name }).check();
    const field = page().getByRole('textbox', { name: 'New todo' });
    const more = Array.from({ length: 8 }, (_, n) => `Number ${n}`);
    for (const text of more) {
      await field.fill(text);
      await field.press('Enter');
    }
    await shows(page(), '13 changes are not sent yet. This browser keeps them until you are back online.');
    expect(await page().getByRole('alert').getByText(/./).count()).toBe(0);
    expect(await page().locator('.notice').count()).toBeLessThanOrEqual(1);
    await setOffline(false);
    await settles(stored, [...names.map((name) => `✓ ${name}`), ...more]);
    await hides(page(), 'You are offline.');
    await hides(page(), 'not sent yet');
  });

  test('not a new todo that was discarded', async () => {
    await page().goto('/todos');
    await shows(page(), 'There are no todos yet.');
    await setOffline(true);
    const field = page().getByRole('textbox', { name: 'New todo' });
    for (const text of ['First', 'Second']) {
      await field.fill(text);
      await field.press('Enter');
    }
    await page().getByText('Which?').click();
    // The first may have been sent.
    await page().getByRole('button', { name: 'Discard' }).click();
    await shows(page(), '1 change is not sent yet.');
    await setOffline(false);
    await settles(stored, ['First']);
    await hides(page(), 'not sent yet');
    expect(await stored()).toEqual(['First']);
  });

  test('a new todo, which names itself as the same each time', async () => {
    const keys: (string | undefined)[] = [];
    page().on('request', (request) => {
      if (request.method() === 'POST') keys.push(request.headers()['idempotency-key']);
    });
    await page().goto('/todos/new');
    await page().route('**/api/todos', (route) => route.abort(), { times: 1 });
    await description().fill('Buy milk');
    await save().click();
    await settles(stored, ['Buy milk']);
    await settles(() => Promise.resolve(keys.length), 2);
    expect(keys).toEqual([expect.stringMatching(/^[\d-]{7,}$/), keys[0]]);
  });
});

test('Notices never cover Save, on any window', async () => {
  await store('Buy milk', 'Buy bread', 'Sweep');
  await page().goto('/todos');
  await page().getByRole('checkbox').first().waitFor();
  await page().getByRole('checkbox', { name: 'Buy bread' }).press('Space');
  await shows(page(), '“Buy bread” is done.');
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
