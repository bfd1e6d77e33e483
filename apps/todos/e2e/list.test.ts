import { expect, test } from '@jest/globals';
import type { Request, Route } from 'playwright-core';
import { settles, shows, useService } from '../test/browser.ts';

const ui = useService();
const { page, open, proxy, store, storeMany, stored, change, rows, button, link, heading, checkbox, searchField } = ui;

const filter = (name: string) => page().getByRole('link', { name });

test('The list follows filter and search, which stay in the address, newest first', async () => {
  const odd = 'ÜBUNG 100% & b?c=d#e';
  await open('/', 'Buy milk', `✓ ${odd}`, 'Rest', '✓ Sweep');
  await filter('2 done').waitFor();
  await filter('2 open').click();
  await settles(rows, ['Rest', 'Buy milk']);
  const place = await searchField().boundingBox();
  await filter('Done 2').click();
  await settles(rows, ['Sweep', odd]);
  await filter('All 4').click();
  await settles(rows, ['Rest', 'Buy milk', 'Sweep', odd]);
  // The field moves by no pixel.
  expect(await searchField().boundingBox()).toEqual(place);
  await searchField().fill('& B?C=D#');
  await settles(rows, [odd]);
  await searchField().fill('buy');
  await settles(rows, ['Buy milk']);
  await page().getByRole('status').filter({ hasText: '1 todo is listed' }).waitFor({ state: 'attached' });
  await page().reload();
  await settles(rows, ['Buy milk']);
  expect(await searchField().inputValue()).toBe('buy');
  await page().goBack();
  await settles(rows, ['Sweep', odd]);
  await page().goForward();
  await settles(rows, ['Buy milk']);
  await page().goto('/todos?show=constructor&q=zebra');
  await shows(page(), 'No todo contains “zebra”.');
  await filter('Done 2').click();
  await shows(page(), 'No done todo contains “zebra”.');
  await link('Clear the search').click();
  await settles(rows, ['Sweep', odd]);
  for (const name of ['Sweep', odd]) await checkbox(name).uncheck();
  await filter('Done 0').click();
  await shows(page(), 'There are no done todos.');
  await link('Show all todos').click();
  await settles(rows, ['Sweep', 'Rest', odd, 'Buy milk']);
});

test('The list shows a tick at once, and leaves the row until one looks again', async () => {
  await open('/todos?show=open', 'Alpha', 'Beta', 'Gamma');
  const release = proxy.hold('PUT');
  for (let click = 0; click < 7; click += 1) await checkbox('Beta').click();
  await filter('Done 1').waitFor();
  expect([await checkbox('Beta').isChecked(), await stored()]).toEqual([true, ['Alpha', 'Beta', 'Gamma']]);
  release();
  await settles(stored, ['Alpha', '✓ Beta', 'Gamma']);
  await settles(rows, ['Gamma', 'Beta', 'Alpha']);
  await filter('Open 2').click();
  await settles(rows, ['Gamma', 'Alpha']);
  await checkbox('Gamma').check();
  await ui.lookAgain();
  await settles(rows, ['Alpha']);
});

test('A text that is edited in the list stays while others tick it and add todos', async () => {
  await open('/todos', 'Buy milk', 'Rest');
  await page().locator('.todos .text').getByText('Rest').click();
  await page().locator('.todos textarea').fill('Sl');
  await change(2, 'Rest', 1);
  await store('Buy bread');
  await ui.lookAgain();
  await checkbox('Buy bread').waitFor();
  await page().keyboard.type('eep');
  await page().keyboard.press('Enter');
  await settles(stored, ['Buy milk', '✓ Sleep', 'Buy bread']);

  await searchField().fill('sleep');
  await settles(rows, ['Sleep']);
  await page().locator('.todos .text').click();
  await change(2, 'Rest');
  await store('Buy soap');
  await ui.lookAgain();
  await filter('All 4').waitFor();
  await ui.press('!', 'Enter');
  await shows(page(), '“Sleep!” is not saved. Somebody else has changed the same.');
});

test('A text in the list can be selected, and a link opens', async () => {
  await open('/todos', 'Read http://localhost/page soon');
  const { x, y, width, height } = (await page().locator('.todos .text').boundingBox())!;
  await page().mouse.move(x + 1, y + height / 2);
  await page().mouse.down();
  await page().mouse.move(x + Math.min(width, 60), y + height / 2, { steps: 5 });
  await page().mouse.up();
  expect(await page().evaluate(() => getSelection()!.toString())).toMatch(/^Read/);
  expect(await page().locator('.todos textarea').count()).toBe(0);
  await page().route('http://localhost/page', (route) => route.fulfill({ body: 'There', contentType: 'text/html' }));
  await link('http://localhost/page').click();
  await page().waitForURL('http://localhost/page');
});

test('What others write appears within 15 seconds in a visible tab, and moves nothing', async () => {
  await storeMany(100);
  await page().clock.install();
  await open('/todos');
  await checkbox('Todo number 100').focus();
  await store('Of another');
  await change(100, 'Todo number 100', 1);
  await page().clock.runFor(16_000);
  await link('Details: Of another').waitFor();
  expect(await ui.focused()).toBe('Done: Todo number 100');

  await page().evaluate(() => scrollTo(0, 3000));
  await page().clock.runFor(1000);
  const place = () => link('Details: Todo number 60').boundingBox();
  const before = await place();
  await store('Of a third', 'Of a fourth');
  await page().clock.runFor(16_000);
  await filter('All 103').waitFor();
  await settles(place, before);

  const isHidden = (hidden: boolean) =>
    page().evaluate((value) => Object.defineProperty(document, 'hidden', { value, configurable: true }), hidden);
  const asked = proxy.count('GET');
  await isHidden(true);
  await page().clock.runFor(60_000);
  expect(proxy.count('GET')).toBe(asked);
  await isHidden(false);
  await page().clock.runFor(16_000);
  await settles(() => proxy.count('GET'), asked + 1);
});

test('A list too long for a tag is not asked for every 15 seconds', async () => {
  const body = '[{"id":1,"description":"Buy milk","isCompleted":0}]';
  await page().clock.install();
  proxy.fault = () => ({ answer: { status: 200, headers: { 'content-type': 'application/json' }, body } });
  await open('/todos');
  await settles(rows, ['Buy milk']);
  const before = proxy.count('GET');
  await page().clock.runFor(240_000);
  expect(proxy.count('GET')).toBe(before);
  // A page waits 15 s for a response by this clock. The service worker starts by another one.
  await page().clock.runFor(61_000);
  await settles(() => proxy.count('GET'), before + 1);
});

test('A list is asked for once, and not sent again while it is the same', async () => {
  await storeMany(100);
  await open('/');
  await filter('100 open').waitFor();
  const lists = () => proxy.seen.flatMap(({ path, status }) => (path === '/api/todos' ? [status] : []));
  expect(lists()).toEqual([200]);
  await page().reload();
  await filter('100 open').waitFor();
  proxy.seen.length = 0;
  await filter('100 open').click();
  await link('Details: Todo number 99').click();
  await heading('Todo number 99').waitFor();
  await page().goBack();
  await settles(lists, [304, 304]);
  await store('Of another');
  await page().goBack();
  await filter('101 open').waitFor();
  expect(lists()).toEqual([304, 304, 200]);

  // The list is as it was, but a todo has been shown that differed.
  await page().goto('/todos');
  await link('Details: Of another').waitFor();
  await change(101, 'Of a third');
  await link('Details: Of another').click();
  await heading('Of a third').waitFor();
  await change(101, 'Of another');
  await page().goBack();
  await link('Details: Of another').waitFor();
});

const allTasks = () => page().evaluate(() => new Promise((resolve) => setTimeout(resolve)));

test('A list that was asked for earlier and comes later changes nothing', async () => {
  await store('Buy milk');
  // Chromium's cache would let the later one wait, and a service worker passes by routes.
  await page().addInitScript(() => Object.defineProperty(navigator, 'serviceWorker', { value: undefined }));
  await page().goto('/');
  await filter('1 open').waitFor();
  await store('Buy bread');
  const { promise: released, resolve: arrive } = Promise.withResolvers<undefined>();
  const holdResponse = async (route: Route) => {
    const response = await route.fetch();
    await released;
    await route.fulfill({ response });
  };
  await page().route('**/api/todos', holdResponse, { times: 1 });
  const before = proxy.count('GET');
  await ui.lookAgain();
  await settles(() => proxy.statuses('GET')[before], 200);
  await store('Buy soap');
  await link('All todos').click();
  await settles(rows, ['Buy soap', 'Buy bread', 'Buy milk']);
  const late = page().waitForEvent('requestfinished');
  arrive(undefined);
  await late;
  await allTasks();
  expect(await rows()).toEqual(['Buy soap', 'Buy bread', 'Buy milk']);
});

test('A list and a todo that were asked for before a tick change nothing', async () => {
  await open('/todos', 'Buy milk');
  await checkbox('Buy milk').waitFor();
  await store('Rest');
  const before = proxy.count('GET');
  const arriveList = proxy.holdNext('/api/todos');
  await ui.lookAgain();
  await settles(() => proxy.statuses('GET')[before], 200);
  await checkbox('Buy milk').check();
  await settles(stored, ['✓ Buy milk', 'Rest']);
  arriveList();
  await settles(rows, ['Rest', 'Buy milk']);
  expect(await checkbox('Buy milk').isChecked()).toBe(true);

  const arrive = proxy.holdNext('/api/todos/1');
  // The page may give the request up, too.
  const late = new Promise<void>((resolve) => {
    const listen = (request: Request) => request.url().endsWith('/1') && resolve();
    page().on('requestfinished', listen).on('requestfailed', listen);
  });
  await link('Details: Buy milk').click();
  await settles(() => proxy.seen.at(-1), expect.objectContaining({ path: '/api/todos/1', status: 200 }));
  await button('Open it again').click();
  await settles(stored, ['Buy milk', 'Rest']);
  arrive();
  await late;
  await allTasks();
  expect(await button('Mark as done').count()).toBe(1);
});
