import { describe, expect, test } from '@jest/globals';
import { hides, isLoaded, settles, shows, useService } from '../test/browser.ts';
import { openWithWorker, useProxy } from './proxy.ts';

const { page, service, store, stored } = useService({ serviceWorkers: 'allow' });
const proxy = useProxy(() => service().url);

const open = (path: string) => openWithWorker(page(), proxy().url + path);
const rows = () => page().getByRole('listitem').allInnerTexts();
const setOffline = (isOffline: boolean) => page().context().setOffline(isOffline);

describe('Offline, the list', () => {
  test('has what this browser has written, though no list was read since', async () => {
    await store('Buy milk', 'Rest');
    await open('/todos');
    await page().reload();
    await isLoaded(page());
    await page().getByRole('textbox', { name: 'New todo' }).fill('Buy bread');
    await page().keyboard.press('Enter');
    await page().getByRole('checkbox', { name: 'Rest' }).check();
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

  test('opens a todo that was never opened before, and its form', async () => {
    await store('Buy milk', 'Rest');
    await open('/todos');
    await page().reload();
    await isLoaded(page());
    await setOffline(true);
    await page().reload();
    await page().goto(`${proxy().url}/todos/2`);
    await page().getByRole('heading', { name: 'Rest' }).waitFor();
    await shows(page(), 'You are offline.');
    await page().goto(`${proxy().url}/todos/edit/1`);
    await settles(() => page().getByLabel('Description').inputValue(), 'Buy milk');
    await page().goto(`${proxy().url}/todos/3`);
    await shows(page(), 'Todo 3 could not be loaded.');
  });

  test('is never a page of a portal', async () => {
    await store('Buy milk');
    await open('/todos');
    await page().reload();
    await isLoaded(page());
    const portal = { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Log in</h1>' };
    proxy().fault = () => ({ answer: portal });
    await page().reload();
    await shows(page(), 'The server has a problem.');
    await setOffline(true);
    await page().reload();
    await settles(rows, ['Buy milk']);
  });
});

describe('“The server cannot be reached”', () => {
  const cannot = 'The server cannot be reached. What is shown may be out of date.';

  test('goes when it is there again, also where nothing has changed', async () => {
    await store('Buy milk');
    await page().clock.install();
    await open('/todos');
    await page().reload();
    await isLoaded(page());
    proxy().fault = () => ({ lose: 'request' });
    await page().clock.runFor(16_000);
    await shows(page(), cannot);
    expect(await rows()).toEqual(['Buy milk']);
    proxy().fault = undefined;
    proxy().seen.length = 0;
    await page().clock.runFor(16_000);
    await hides(page(), cannot);
    expect(proxy().seen.map(({ status }) => status)).toEqual([304]);
  });

  test('is not said where the storage of the service worker fails', async () => {
    await store('Buy milk');
    await open('/todos');
    const [worker] = page().context().serviceWorkers();
    await worker!.evaluate(() => {
      const fails = () => Promise.reject(new Error('The disk is full'));
      Object.defineProperty(caches, 'open', { value: fails });
    });
    await page().reload();
    await settles(rows, ['Buy milk']);
    await page().getByRole('link', { name: 'Buy milk', exact: true }).click();
    await shows(page(), 'Mark as done');
    expect(await page().getByText('cannot be reached').count()).toBe(0);
  });
});

test('An overloaded service is asked again before the page says so', async () => {
  await open('/todos');
  const overloaded = { status: 503, headers: { 'retry-after': '1' }, body: '{"message":"Overloaded"}' };
  const refused: string[] = [];
  proxy().fault = ({ method = '' }) => {
    if (refused.includes(method)) return undefined;
    refused.push(method);
    return { answer: overloaded };
  };
  await page().reload();
  await shows(page(), 'There are no todos yet.');
  await page().getByRole('textbox', { name: 'New todo' }).fill('Buy milk');
  await page().keyboard.press('Enter');
  await settles(stored, ['Buy milk']);
  expect(refused).toEqual(['GET', 'POST']);
  expect(proxy().count('POST')).toBe(2);
});
