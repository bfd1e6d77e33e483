import { describe, expect, test } from '@jest/globals';
import { hides, isLoaded, settles, shows, useService } from '../test/browser.ts';

const ui = useService();
const { page, proxy, setOffline, store, stored, change, rows, link, checkbox, button, heading, description } = ui;

/** Opens the list twice: the service worker keeps the one that it has fetched. */
async function open(...todos: string[]) {
  await ui.open('/todos', ...todos);
  await page().reload();
  await isLoaded(page());
}

describe('Offline, the list', () => {
  test('has what this browser has written, though no list was read since', async () => {
    await open('Buy milk', 'Rest');
    await ui.add('Buy bread');
    await checkbox('Rest').check();
    await settles(stored, ['Buy milk', '✓ Rest', 'Buy bread']);
    await hides(page(), 'not yet saved');
    const methods = proxy().seen.map(({ method }) => method);
    expect(methods.slice(methods.indexOf('POST'))).not.toContain('GET');
    await setOffline(true);
    await page().reload();
    await settles(rows, ['Buy bread', 'Buy milk', 'Rest']);
    await page().getByRole('checkbox', { name: 'Rest', checked: true }).waitFor();
    expect(await page().getByText('not sent yet').count()).toBe(0);
  });

  test('has what was written last, though an earlier change of the same todo has been seen by itself', async () => {
    await open('Buy milk');
    await link('Details: Buy milk').click();
    await button('Mark as done').click();
    await hides(page(), 'not yet saved');
    await ui.lookAgain();
    await settles(() => proxy().seen.at(-1), expect.objectContaining({ path: '/api/todos/1', status: 200 }));
    await button('Open it again').click();
    await settles(stored, ['Buy milk']);
    await hides(page(), 'not yet saved');
    await link('All todos').first().click();
    await settles(
      () => proxy().seen.at(-1),
      expect.objectContaining({ path: '/api/todos', status: expect.any(Number) }),
    );
    await settles(() => checkbox('Buy milk').isChecked(), false);
    await setOffline(true);
    await page().reload();
    await checkbox('Buy milk').waitFor();
    await shows(page(), 'You are offline.');
    expect(await checkbox('Buy milk').isChecked()).toBe(false);
  });

  test('opens a todo that was never opened before, and its form', async () => {
    await open('Buy milk', 'Rest');
    await setOffline(true);
    await page().reload();
    await page().goto('/todos/2');
    await heading('Rest').waitFor();
    await shows(page(), 'You are offline.');
    await page().goto('/todos/edit/1');
    await settles(() => description().inputValue(), 'Buy milk');
    await page().goto('/todos/3');
    await shows(page(), 'Todo 3 could not be loaded.');
  });

  test('is never a page of a portal', async () => {
    await open('Buy milk');
    const portal = { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Log in</h1>' };
    proxy().fault = () => ({ answer: portal });
    await page().reload();
    await shows(page(), 'The server has a problem.');
    await setOffline(true);
    await page().reload();
    await settles(rows, ['Buy milk']);
  });
});

test.each(['/todos', '/todos/1'])('A slow storage hides nothing that others have written: %s', async (path) => {
  await store('Buy milk');
  await ui.open('/todos');
  await checkbox('Buy milk').check();
  await settles(stored, ['✓ Buy milk']);
  await hides(page(), 'not yet saved');
  await change(1, 'Buy oat milk');
  await page().addInitScript(() => {
    const descriptor = Object.getOwnPropertyDescriptor(IDBTransaction.prototype, 'oncomplete')!;
    const released = new Promise((resolve) => addEventListener('release', resolve));
    const late = (done: () => void) => async () => {
      await released;
      done();
    };
    Object.defineProperty(IDBTransaction.prototype, 'oncomplete', {
      set(done: () => void) {
        descriptor.set!.call(this, late(done));
      },
    });
  });
  const loaded = page().waitForResponse(`**/api${path}`);
  await page().goto(path);
  await (await loaded).finished();
  await page().evaluate(() => new Promise((resolve) => setTimeout(() => setTimeout(resolve))));
  await page().evaluate(() => dispatchEvent(new Event('release')));
  await shows(page(), 'Buy oat milk');
  await hides(page(), 'Loading…');
  await page().evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  expect(await page().getByText('Buy milk').count()).toBe(0);
});

describe('“The server cannot be reached”', () => {
  const cannot = 'The server cannot be reached. What is shown may be out of date.';

  test('goes when it is there again, also where nothing has changed', async () => {
    await store('Buy milk');
    await page().clock.install();
    await open();
    proxy().fault = () => ({ lose: 'request' });
    await page().clock.runFor(16_000);
    await shows(page(), cannot);
    expect(await rows()).toEqual(['Buy milk']);
    proxy().fault = undefined;
    proxy().seen.length = 0;
    await page().clock.runFor(16_000);
    await hides(page(), cannot);
    expect(proxy().statuses('GET')).toEqual([304]);
  });
});
