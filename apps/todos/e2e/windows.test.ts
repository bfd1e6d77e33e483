import { expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { desktop, phone, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, service, storeMany, description, button, checkbox, heading } = ui;

const scrolledBy = () => page().evaluate(() => scrollY);

/** A phone whose keyboard is open. */
const lowPhone = { width: 375, height: 400 };

/** Whether one is above or below the other. */
async function isBeside(...elements: [Locator, Locator]) {
  const [one, other] = await Promise.all(elements.map((element) => element.boundingBox()));
  return one!.y >= other!.y + other!.height || one!.y + one!.height <= other!.y;
}

test('Notices never cover Save, on any window; the next page begins at its top', async () => {
  await open('/todos', 'Buy milk', 'Buy bread');
  await checkbox('Buy bread').press('Space');
  await shows(page(), '“Buy bread” is done.');
  // At once, before the notice goes by itself.
  await page().evaluate(() => {
    history.pushState(null, '', '/todos/edit/1');
    dispatchEvent(new PopStateEvent('popstate'));
  });
  await description().fill('Words '.repeat(40));
  // It does not go by itself then.
  await button('Close').focus();
  const windows = [phone, lowPhone, { width: 320, height: 256 }, desktop, { width: 740, height: 330 }];
  for (const window of windows) {
    await page().setViewportSize(window);
    for (const edge of ['top', 'bottom', 'Save']) {
      if (edge === 'Save') await button('Save').scrollIntoViewIfNeeded();
      else await page().evaluate((to) => scrollTo(0, to === 'top' ? 0 : document.body.scrollHeight), edge);
      expect([window, edge, await isBeside(page().locator('.notice'), button('Save'))]).toEqual([window, edge, true]);
    }
    // Nothing but Save itself would take a click.
    await button('Save').click({ trial: true });
  }
  await button('Save').scrollIntoViewIfNeeded();
  expect(await scrolledBy()).toBeGreaterThan(0);
  await button('Save').click();
  await shows(page(), 'Saved.');
  await shows(page(), 'Mark as done');
  await settles(scrolledBy, 0);
});

test('A notice never covers the row that was changed', async () => {
  await page().setViewportSize(phone);
  await storeMany(60);
  await open('/todos');
  for (const block of ['start', 'end'] as const) {
    const name = `Todo number ${block === 'start' ? 20 : 30}`;
    const row = page().getByRole('listitem').filter({ hasText: name });
    await row.evaluate((item, block) => {
      item.scrollIntoView({ block });
      item.querySelector('input')!.click();
    }, block);
    expect(await isBeside(page().locator('.notice', { hasText: name }), row)).toBe(true);
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

test('A long list is printed whole, dark on white, with nothing to press', async () => {
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
  for (const name of ['footer', 'header', '.tools', '.more', 'form'])
    expect([name, await page().locator(name).first().isVisible()]).toEqual([name, false]);
  expect(await rows.first().getByText('Todo number').isVisible()).toBe(true);
});

test('Forced colours leave the boxes to the browser; nothing moves while it loads', async () => {
  await page().emulateMedia({ forcedColors: 'active' });
  const release = ui.proxy.hold('GET');
  await ui.store('Buy milk');
  await page().goto(`${ui.proxy.url}/todos`);
  await page().locator('.loading').waitFor();
  expect(await page().evaluate(() => document.getAnimations().length)).toBe(0);
  release();
  expect(await checkbox('Buy milk').evaluate((box) => getComputedStyle(box).appearance)).toBe('auto');
});
