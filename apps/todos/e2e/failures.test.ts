import { describe, expect, test } from '@jest/globals';
import { hides, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const { page, open, proxy, store, stored, rows, description, button, link, add, breakDatabase } = useService();

const pages: [string, string, string][] = [
  ['/', 'Your todos could not be loaded.', 'text=1 open'],
  ['/todos', 'Your todos could not be loaded.', 'li >> text=Buy milk'],
  ['/todos/1', 'Todo 1 could not be loaded.', 'h1:has-text("Buy milk")'],
  ['/todos/edit/1', 'Todo 1 could not be loaded.', 'textarea'],
];

describe('Each page that loads', () => {
  test.each(pages)('%s says so, and when it fails offers to try again', async (path, sentence, content) => {
    await store('Buy milk');
    const release = proxy().hold('GET');
    await page().goto(path);
    await page().getByRole('status').getByText('Loading…').waitFor();
    expect(await page().locator(content).isVisible()).toBe(false);
    await axeFindsNothing(page());
    const mend = await breakDatabase();
    release();
    await shows(page(), `${sentence} The server has a problem.`);
    await hides(page(), 'Loading…');
    await axeFindsNothing(page());
    const before = proxy().count('GET');
    await button('Try again').click();
    await settles(() => proxy().statuses('GET')[before], 500);
    await button('Try again').waitFor();
    await mend();
    await button('Try again').click();
    await page().locator(content).waitFor();
    await hides(page(), sentence);
    const focus = path === '/todos/edit/1' ? 'textarea:focus' : 'h1:focus';
    await page().locator(focus).waitFor();
  });

  test('leaves what was shown before while the latest comes, and when that fails', async () => {
    await open('/todos', 'Buy milk');
    await settles(rows, ['Buy milk']);
    await link('Details: Buy milk').click();
    await shows(page(), 'Mark as done');
    const release = proxy().hold('GET');
    await link('All todos').first().click();
    await settles(rows, ['Buy milk']);
    const mend = await breakDatabase();
    release();
    await shows(page(), 'Your todos could not be brought up to date.');
    expect(await rows()).toEqual(['Buy milk']);
    await mend();
  });
});

const json = { 'content-type': 'application/json' };
const html = { 'content-type': 'text/html' };

const overload = { status: 503, headers: json, body: '{"message":"Overloaded"}' };
const problem = 'The server has a problem.';

describe('A response that is of no use', () => {
  test.each([
    [problem, 'a page', { status: 400, headers: html, body: '<h1>Bad request</h1>' }],
    [problem, 'another object', { status: 400, headers: json, body: '{}' }],
    [problem, 'an empty success', { status: 200, body: '' }],
    ['The server has too much to do. Try again in a moment.', 'an overload', overload],
  ])('to a save is told, which is sent again: %s %s', async (sentence, _name, answer) => {
    await open('/todos/new');
    proxy().fault = () => ({ answer });
    await description().fill('Buy milk');
    await button('Save').click();
    await shows(page(), `${sentence} 1 change is not sent yet.`);
    expect(await page().getByText('Saved.').count()).toBe(0);
    proxy().fault = undefined;
    await settles(stored, ['Buy milk']);
    await hides(page(), 'not sent yet');
  });

  test.each([
    ['a page of a proxy', { status: 502, headers: html, body: '<h1>Bad gateway</h1>' }],
    ['a page with status 200', { status: 200, headers: html, body: '<h1>Log in</h1>' }],
    ['half of a list', { status: 200, headers: json, body: '[{"id":1,' }],
    ['nothing', { status: 200, headers: json, body: 'null' }],
  ])('to a list is told as a problem of the server: %s', async (_name, answer) => {
    proxy().fault = () => ({ answer });
    await open('/todos');
    await shows(page(), 'Your todos could not be loaded. The server has a problem.');
  });
});

test('A server that asks for a second is asked again, before a person is told', async () => {
  await open('/todos');
  const answer = { ...overload, headers: { 'retry-after': '1', ...json } };
  const refused: string[] = [];
  proxy().fault = ({ method = '' }) => {
    if (refused.includes(method)) return undefined;
    refused.push(method);
    return { answer };
  };
  const isTold = page()
    .getByText(/not sent yet|could not/)
    .waitFor()
    .then(
      () => true,
      () => false,
    );
  await page().reload();
  await shows(page(), 'There are no todos yet.');
  await add('Buy milk');
  await settles(stored, ['Buy milk']);
  expect(refused).toEqual(['GET', 'POST']);
  expect(proxy().count('POST')).toBe(2);
  await page().close();
  expect(await isTold).toBe(false);
});
