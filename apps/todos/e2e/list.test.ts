import { describe, expect, test } from '@jest/globals';
import type { Request, Route } from 'playwright-core';
import { settles, shows, useService } from '../test/browser.ts';

const ui = useService();
const { page, open, proxy, service, store, stored, change, rows, button, link, heading, checkbox, searchField } = ui;

const hundred = Array.from({ length: 100 }, (_, n) => `Number ${n + 1}`);
const filter = (name: string) => page().getByRole('link', { name });

describe('The list', () => {
  test('shows all, the open or the done, newest first, with how many there are', async () => {
    await open('/', 'One', '✓ Two', 'Three', '✓ Four');
    await filter('2 done').waitFor();
    await filter('2 open').click();
    await settles(rows, ['Three', 'One']);
    const place = await searchField().boundingBox();
    await filter('Done 2').click();
    await settles(rows, ['Four', 'Two']);
    await filter('All 4').click();
    await settles(rows, ['Three', 'One', 'Four', 'Two']);
    // The field moves by no pixel.
    expect(await searchField().boundingBox()).toEqual(place);
    await page().goto('/todos?show=constructor');
    await settles(rows, ['Three', 'One', 'Four', 'Two']);
  });

  test('keeps filter and search in the address: reload, back and forward show them again', async () => {
    const texts = ['Buy milk', '✓ ÜBUNG 100% & b?c=d#e', 'Rest'];
    await open('/todos', ...texts);
    await filter('Done').click();
    await settles(rows, ['ÜBUNG 100% & b?c=d#e']);
    await filter('All 3').click();
    await searchField().fill('& B?C=D#');
    await settles(rows, ['ÜBUNG 100% & b?c=d#e']);
    await searchField().fill('buy');
    await settles(rows, ['Buy milk']);
    await page().getByRole('status').filter({ hasText: '1 todo is listed' }).waitFor({ state: 'attached' });
    await page().reload();
    await settles(rows, ['Buy milk']);
    expect(await searchField().inputValue()).toBe('buy');
    await page().goBack();
    await settles(rows, ['ÜBUNG 100% & b?c=d#e']);
    await page().goForward();
    await settles(rows, ['Buy milk']);
  });

  test('says when nothing fits, and leads back', async () => {
    await open('/todos?show=done&q=zebra', 'Buy milk');
    await shows(page(), 'No done todo contains “zebra”.');
    await link('Clear the search').click();
    await shows(page(), 'There are no done todos.');
    await link('Show all todos').click();
    await settles(rows, ['Buy milk']);
  });

  test('shows a tick at once; many on one box end with what it shows', async () => {
    await open('/todos', 'Buy milk');
    const release = proxy().hold('PUT');
    for (let click = 0; click < 7; click += 1) await checkbox('Buy milk').click();
    await filter('Done 1').waitFor();
    expect([await checkbox('Buy milk').isChecked(), await stored()]).toEqual([true, ['Buy milk']]);
    release();
    await settles(stored, ['✓ Buy milk']);
    await page().reload();
    await settles(() => checkbox('Buy milk').isChecked(), true);
  });

  test('leaves a ticked row where it is until one looks again', async () => {
    await open('/todos?show=open', 'Alpha', 'Beta', 'Gamma');
    await checkbox('Beta').check();
    await settles(stored, ['Alpha', '✓ Beta', 'Gamma']);
    await filter('Done 1').waitFor();
    expect(await rows()).toEqual(['Gamma', 'Beta', 'Alpha']);
    await filter('Open 2').click();
    await settles(rows, ['Gamma', 'Alpha']);
    await checkbox('Gamma').check();
    await ui.lookAgain();
    await settles(rows, ['Alpha']);
  });
});

describe('What others write', () => {
  test.each(['/', '/todos', '/todos/1'])('%s shows when the tab is shown again', async (path) => {
    await open(path, 'Buy milk');
    await shows(page(), path === '/' ? '1 open' : 'Buy milk');
    await change(1, 'Buy bread');
    await store('Buy soap');
    await ui.lookAgain();
    await shows(page(), path === '/' ? '2 open' : 'Buy bread');
  });

  test('appears by itself within 15 seconds, above what is being read', async () => {
    await store(...hundred);
    await page().clock.install();
    await open('/todos');
    await checkbox('Number 100').waitFor();
    await store('Of another');
    await page().clock.runFor(16_000);
    await link('Details: Of another').waitFor();

    await page().evaluate(() => scrollTo(0, 3000));
    await page().clock.runFor(1000);
    const before = await link('Details: Number 60').boundingBox();
    await store('Of a third', 'Of a fourth');
    await page().clock.runFor(16_000);
    await filter('All 103').waitFor();
    await settles(() => link('Details: Number 60').boundingBox(), before);
  });

  test('is not asked for while the tab is hidden', async () => {
    await page().clock.install();
    await open('/todos');
    await shows(page(), 'There are no todos yet.');
    const before = proxy().count('GET');
    await page().evaluate(() => Object.defineProperty(document, 'hidden', { get: () => true, configurable: true }));
    await page().clock.runFor(60_000);
    expect(proxy().count('GET')).toBe(before);
    await page().evaluate(() => Object.defineProperty(document, 'hidden', { get: () => false }));
    await page().clock.runFor(16_000);
    await settles(() => proxy().count('GET'), before + 1);
  });

  test('is not asked for every 15 seconds where the list is too long for a tag', async () => {
    const answer = {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '[{"id":1,"description":"Buy milk","isCompleted":0}]',
    };
    await page().clock.install();
    proxy().fault = () => ({ answer });
    await open('/todos');
    await settles(rows, ['Buy milk']);
    const before = proxy().count('GET');
    await page().clock.runFor(240_000);
    expect(proxy().count('GET')).toBe(before);
    await page().clock.runFor(75_000);
    await settles(() => proxy().count('GET'), before + 1);
  });
});

describe('A list that the browser has', () => {
  test('is not sent again while it is the same: home, list, one and back', async () => {
    await open('/', ...hundred);
    await page().reload();
    await filter('100 open').waitFor();
    proxy().seen.length = 0;
    const lists = () => proxy().seen.flatMap(({ path, status }) => (path === '/api/todos' ? [status] : []));
    await filter('100 open').click();
    await link('Details: Number 99').click();
    await heading('Number 99').waitFor();
    await page().goBack();
    await settles(lists, [304, 304]);
    await store('Of another');
    await page().goBack();
    await filter('101 open').waitFor();
    expect(lists()).toEqual([304, 304, 200]);
  });

  test('comes again when a todo was shown that differs, though the list is as it was', async () => {
    await open('/todos', 'Buy milk', 'Buy bread');
    await settles(rows, ['Buy bread', 'Buy milk']);
    await change(1, 'Buy oat milk');
    await link('Details: Buy milk').click();
    await heading('Buy oat milk').waitFor();
    await change(1, 'Buy milk');
    await page().goBack();
    await settles(rows, ['Buy bread', 'Buy milk']);
  });

  test('is asked for once, together with the script of the pages that show it', async () => {
    await page().goto('/todos');
    await shows(page(), 'There are no todos yet.');
    expect(proxy().count('GET')).toBe(1);
    const linkOf = async (path: string) => (await fetch(service().url + path)).headers.get('link');
    const preload = '</api/todos>; rel=preload; as=fetch; crossorigin';
    expect(await Promise.all(['/', '/todos?q=a', '/todos/1'].map(linkOf))).toEqual([preload, preload, null]);
  });
});

describe('A response that was asked for earlier and comes later changes nothing:', () => {
  test('of the list, after a later one has come', async () => {
    await store('Buy milk');
    // Chromium's cache would let the later one wait, and a service worker passes by routes.
    await page().addInitScript(() => Object.defineProperty(navigator, 'serviceWorker', { value: undefined }));
    await page().goto('/');
    await filter('1 open').waitFor();
    await store('Buy bread');
    let arrive!: () => void;
    const released = new Promise<void>((resolve) => (arrive = resolve));
    const holdResponse = async (route: Route) => {
      const response = await route.fetch();
      await released;
      await route.fulfill({ response });
    };
    await page().route('**/api/todos', holdResponse, { times: 1 });
    const before = proxy().count('GET');
    await ui.lookAgain();
    await settles(() => proxy().statuses('GET')[before], 200);
    await store('Buy soap');
    await link('All todos').click();
    await settles(rows, ['Buy soap', 'Buy bread', 'Buy milk']);
    const late = page().waitForEvent('requestfinished');
    arrive();
    await late;
    await page().evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    expect(await rows()).toEqual(['Buy soap', 'Buy bread', 'Buy milk']);
  });

  test('of the list, after a tick', async () => {
    await open('/todos', 'Buy milk');
    await checkbox('Buy milk').waitFor();
    await store('Rest');
    const before = proxy().count('GET');
    const arrive = proxy().holdNext('/api/todos');
    await ui.lookAgain();
    await settles(() => proxy().statuses('GET')[before], 200);
    await checkbox('Buy milk').check();
    await settles(stored, ['✓ Buy milk', 'Rest']);
    arrive();
    await settles(rows, ['Rest', 'Buy milk']);
    expect(await checkbox('Buy milk').isChecked()).toBe(true);
  });

  test('of a todo, after a tick', async () => {
    await open('/todos', 'Buy milk');
    const arrive = proxy().holdNext('/api/todos/1');
    // The page may give the request up, too.
    const late = new Promise<void>((resolve) => {
      const listen = (request: Request) => request.url().endsWith('/1') && resolve();
      page().on('requestfinished', listen).on('requestfailed', listen);
    });
    await link('Details: Buy milk').click();
    await settles(() => proxy().seen.at(-1), expect.objectContaining({ path: '/api/todos/1', status: 200 }));
    await button('Mark as done').click();
    await settles(stored, ['✓ Buy milk']);
    arrive();
    await late;
    await page().evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    expect(await button('Open it again').count()).toBe(1);
  });
});
