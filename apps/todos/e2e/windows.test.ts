import { expect, test } from '@jest/globals';
import { desktop, phone, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, service, storeMany, description, button, checkbox, heading } = ui;

/** A phone whose keyboard is open. */
const lowPhone = { width: 375, height: 400 };

test('Notices never cover Save, on any window', async () => {
  await open('/todos', 'Buy milk', 'Buy bread');
  await checkbox('Buy bread').press('Space');
  await shows(page(), '“Buy bread” is done.');
  // At once, before the notice goes by itself.
  await page().evaluate(() => {
    history.pushState(null, '', '/todos/edit/1');
    dispatchEvent(new PopStateEvent('popstate'));
  });
  await description().fill('Words '.repeat(40));
  const windows = [phone, lowPhone, { width: 320, height: 256 }, desktop, { width: 740, height: 330 }];
  for (const window of windows) {
    await page().setViewportSize(window);
    for (const edge of ['top', 'bottom', 'Save']) {
      if (edge === 'Save') await button('Save').scrollIntoViewIfNeeded();
      else await page().evaluate((to) => scrollTo(0, to === 'top' ? 0 : document.body.scrollHeight), edge);
      const save = (await button('Save').boundingBox())!;
      const { y, height } = (await page().locator('.notice').boundingBox())!;
      const isBeside = y >= save.y + save.height || y + height <= save.y;
      expect([window, edge, isBeside]).toEqual([window, edge, true]);
    }
    // Nothing but Save itself would take a click.
    await button('Save').click({ trial: true });
  }
  await button('Save').click();
  await shows(page(), 'Saved.');
});

test('A notice never covers the row that was changed', async () => {
  await page().setViewportSize(phone);
  await storeMany(30);
  await open('/todos');
  for (const place of [-1, 0]) {
    await checkbox('Todo').first().waitFor();
    // The box that is nearest to the end, or to the beginning, of the window.
    const name = await page().evaluate((place) => {
      const boxes = [...document.querySelectorAll<HTMLInputElement>('.todos input')];
      const box = boxes.filter((each) => each.getBoundingClientRect().bottom < innerHeight).at(place)!;
      box.click();
      return box.ariaLabel!;
    }, place);
    const notice = page()
      .locator('.notice')
      .filter({ hasText: name.replace('Done: ', '') });
    const row = page()
      .getByRole('listitem')
      .filter({ has: page().getByRole('checkbox', { name, exact: true }) });
    const [over, under] = [(await notice.boundingBox())!, (await row.boundingBox())!];
    expect(over.y >= under.y + under.height || over.y + over.height <= under.y).toBe(true);
  }
});

test.each([phone, lowPhone])('A paste of 5,000 characters leaves error and Save in sight, at %j', async (viewport) => {
  await page().setViewportSize(viewport);
  await open('/todos/new');
  await description().focus();
  await page().keyboard.insertText('word '.repeat(1000));
  const error = page().getByText('This is too long: 255 characters fit.');
  await error.waitFor();
  for (const element of [error, button('Save')]) {
    const { y, height } = (await element.boundingBox())!;
    expect([y >= 0, y + height <= viewport.height]).toEqual([true, true]);
    const isOnTop = await element.evaluate((shown) => {
      const { x, y, width, height } = shown.getBoundingClientRect();
      return shown.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    });
    expect(isOnTop).toBe(true);
  }
});

test('Without JavaScript the page says what to do', async () => {
  const context = await page().context().browser()!.newContext({ javaScriptEnabled: false });
  const plain = await context.newPage();
  await plain.goto(`${service().url}/todos`);
  await plain.getByRole('heading', { name: 'Todos needs JavaScript' }).waitFor();
  await plain.getByRole('link', { name: 'reload this page' }).waitFor();
  expect(await plain.getByText('Loading…').isVisible()).toBe(false);
  await plain.getByRole('link', { name: 'as plain data' }).click();
  await plain.waitForURL('**/api/todos');
  await context.close();

  // axe needs scripts, so the page shows what browsers without them show.
  const html = await (await fetch(service().url)).text();
  const shown = html.replace(/<script.*?<\/script>|<\/?noscript>|<div id="app">.*?<\/div>/gs, '');
  await page().route('**/', (route) => route.fulfill({ body: shown, contentType: 'text/html' }));
  await page().goto('/');
  await heading('Todos needs JavaScript').waitFor();
  await axeFindsNothing(page());
});

test('A long list is printed whole, in dark letters on white, also where the system is dark', async () => {
  await storeMany(1_000);
  const colors = () =>
    page().evaluate(() => {
      const { color, backgroundColor } = getComputedStyle(document.documentElement);
      return [color, backgroundColor];
    });
  await page().emulateMedia({ colorScheme: 'dark' });
  await open('/todos');
  expect(await colors()).toEqual(['rgb(232, 236, 233)', 'rgb(20, 24, 22)']);
  const rows = page().locator('.todos li');
  await rows.first().waitFor();
  expect(await rows.count()).toBeLessThan(100);
  const pdf = (await page().pdf()).toString('latin1');
  const pages = pdf.match(/\/Type\s*\/Page\b/g) ?? [];
  expect(pages.length).toBeGreaterThan(1_000 / 40);
  // Afterwards the list is a short one again.
  await settles(async () => (await rows.count()) < 100, true);

  await page().evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page().emulateMedia({ colorScheme: 'dark', media: 'print' });
  await settles(() => rows.count(), 1_000);
  expect(await colors()).toEqual(['rgb(28, 32, 30)', 'rgb(255, 255, 255)']);
  expect(await page().getByRole('link', { name: 'Details: ' }).count()).toBe(0);
});

test('With forced colours done and open differ: the browser draws the boxes', async () => {
  await page().emulateMedia({ forcedColors: 'active' });
  await open('/todos', 'Buy milk');
  expect(await checkbox('Buy milk').evaluate((box) => getComputedStyle(box).appearance)).toBe('auto');
});

test('Nothing moves while a list loads, which a person may ask for', async () => {
  const release = ui.proxy().hold('GET');
  await page().goto(`${ui.proxy().url}/todos`);
  await page().locator('.loading').waitFor();
  expect(await page().evaluate(() => document.getAnimations().length)).toBe(0);
  release();
  await settles(() => page().locator('.loading').count(), 0);
});
