import { expect, test } from '@jest/globals';
import { forEver } from '@rest-services/testing';
import { hides, openWithWorker, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';
import { fail, parts, ways } from './odd-browser.ts';

const ui = useService();
const { page, open, proxy, store, stored, change, rows, checkbox, button, link, heading, add, setOffline } = ui;
const { breakDatabase, filters } = ui;

test.each(parts.flatMap((part) => ways.map((way) => [part, way] as const)))(
  'Where %s %s, what is done is sent, and shown after a reload',
  async (part, way) => {
    await open('/todos', 'Buy milk');
    const [worker] = page().context().serviceWorkers();
    await fail(part === 'caches' ? worker! : page(), part, way);
    for (const text of ['Buy bread', 'Rest']) {
      await page().reload();
      await checkbox('Buy milk').click();
      await add(text);
      await settles(async () => (await stored()).includes(text), true);
      await button('Add').waitFor();
      await hides(page(), 'Not sent yet');
    }
    await settles(stored, ['Buy milk', 'Buy bread', 'Rest']);
    await settles(rows, ['Rest', 'Buy bread', 'Buy milk']);
    expect(proxy.seen.length).toBeLessThan(40);
  },
);

test('Without https and storage nothing is overwritten; what is unsent is told', async () => {
  await store('Buy milk', 'Rest');
  await fail(page(), 'indexedDB', 'throws');
  await fail(page(), 'locks', 'undefined');
  await page().addInitScript(() => Object.defineProperty(crypto, 'subtle', { value: undefined }));
  await page().goto('/todos');
  await checkbox('Buy milk').waitFor();
  await change(1, 'Buy oat milk');
  await checkbox('Buy milk').check();
  await checkbox('Rest').check();
  await settles(stored, ['✓ Buy oat milk', '✓ Rest']);
  await setOffline(true);
  await add('Buy bread');
  await shows(page(), '1 change is not sent yet. This browser stores nothing: leave the page open until then.');
  await setOffline(false);
  await settles(stored, ['✓ Buy oat milk', '✓ Rest', 'Buy bread']);
  await hides(page(), 'stores nothing');
});

test('A slow tab holds up no other, which takes over when it is closed', async () => {
  await open('/todos');
  const other = await page().context().newPage();
  await openWithWorker(other, `${proxy.url}/todos`);
  let isHeld = false;
  proxy.fault = ({ method }) => {
    if (method !== 'POST' || isHeld) return undefined;
    isHeld = true;
    return { before: forEver };
  };
  await add('Slow');
  await settles(() => isHeld, true);
  await other.getByRole('textbox', { name: 'New todo' }).fill('Quick');
  await other.keyboard.press('Enter');
  await settles(stored, ['Quick']);
  await shows(other, 'Another tab is sending. 1 change is not sent yet.');
  await shows(page(), 'Quick');
  await page().close();
  await settles(stored, ['Quick', 'Slow']);
  await settles(() => other.getByRole('listitem').allInnerTexts(), ['Slow', 'Quick']);
  await other.close();
});

/** What each page shows of a todo. */
const contents = [
  ['/', 'text=1 open'],
  ['/todos', 'li >> text=Buy milk'],
  ['/todos/1', 'h1:has-text("Buy milk")'],
  ['/todos/edit/1', 'textarea'],
] as const;

test.each(contents)('%s, seen once, is shown offline, and while the service does not answer', async (path, content) => {
  const slow = 'The server takes too long to answer. What is shown may be out of date.';
  await open(path, 'Buy milk');
  await setOffline(true);
  await page().reload();
  await page().locator(content).waitFor();
  await shows(page(), 'You are offline. What is shown may be out of date');
  await setOffline(false);
  const release = proxy.hold('GET');
  await page().reload();
  await page().locator(content).waitFor();
  await hides(page(), 'Loading…');
  await shows(page(), slow);
  await store('Buy bread');
  release();
  await hides(page(), slow);
  if (path === '/todos') await settles(rows, ['Buy bread', 'Buy milk']);
});

test('What is kept stays where a proxy is silent or responds with 502 or 503', async () => {
  await open('/todos', 'Buy milk');
  const answers = [502, 503].map((status) => ({ answer: { status, body: 'Come back later' } }));
  for (const fault of [...answers, { before: forEver }]) {
    proxy.pageFault = proxy.fault = () => fault;
    await page().goto('/todos');
    await settles(rows, ['Buy milk']);
    await shows(page(), 'What is shown may be out of date.');
    await link('Details: Buy milk').click();
    await page().reload();
    await heading('Buy milk').waitFor();
  }
  // The browser's cache holds a request behind a silent one, until that is given up.
  Object.assign(proxy, { fault: undefined, pageFault: undefined });
  await store('Buy bread');
  await page().goto('/todos');
  const isFresh = () => settles(rows, ['Buy bread', 'Buy milk']);
  await isFresh().catch(isFresh);
});

test.each(contents)('%s says that it loads, and offers to try again when that fails', async (path, content) => {
  const failure = /could not be loaded\. The server has a problem\./;
  await store('Buy milk');
  const release = proxy.hold('GET');
  await page().goto(path);
  await page().getByRole('status').getByText('Loading…').waitFor();
  expect(await page().locator(content).isVisible()).toBe(false);
  await axeFindsNothing(page());
  const mend = await breakDatabase();
  release();
  await shows(page(), failure);
  await hides(page(), 'Loading…');
  await axeFindsNothing(page());
  const before = proxy.count('GET');
  await button('Try again').click();
  await settles(() => proxy.statuses('GET')[before], 500);
  await button('Try again').waitFor();
  await mend();
  await button('Try again').click();
  await page().locator(content).waitFor();
  await hides(page(), failure);
  const isForm = path === '/todos/edit/1';
  await ui.hasFocus(isForm ? 'textarea' : 'h1');
  if (isForm) return;

  const mendAgain = await breakDatabase();
  await ui.lookAgain();
  await shows(page(), /could not be brought up to date\. The server has a problem\./);
  expect(await page().locator(content).isVisible()).toBe(true);
  await mendAgain();
  await change(1, 'Buy bread');
  await store('Buy soap');
  await ui.lookAgain();
  await shows(page(), path === '/' ? '2 open' : 'Buy bread');
});

const json = { 'content-type': 'application/json' };
const html = { 'content-type': 'text/html' };
const overload = { status: 503, headers: json, body: '{"message":"Overloaded"}' };
const problem = 'The server has a problem.';
const tooMuch = 'The server has too much to do. Try again in a moment.';

test.each([
  [problem, 'a page', { status: 400, headers: html, body: '<h1>Bad request</h1>' }],
  [problem, 'a page with status 200', { status: 200, headers: html, body: '<h1>Log in</h1>' }],
  [problem, 'another object', { status: 400, headers: json, body: '{}' }],
  [problem, 'an empty success', { status: 200, body: '' }],
  [problem, 'half of a list', { status: 200, headers: json, body: '[{"id":1,' }],
  [problem, 'nothing', { status: 200, headers: json, body: 'null' }],
  [problem, 'a 404 of a gateway', { status: 404, headers: json, body: '{"message":"no Route matched"}' }],
  [tooMuch, 'an overload', overload],
])('A response of no use is told, and a save is sent again: %s %s', async (sentence, _name, answer) => {
  await open('/todos', 'Rest');
  await checkbox('Rest').waitFor();
  proxy.fault = () => ({ answer });
  await checkbox('Rest').check();
  await page().reload();
  await shows(page(), `Your todos could not be loaded. ${sentence}`);
  await add('Buy milk');
  await shows(page(), `${sentence} 2 changes are not sent yet.`);
  // What this page knows stands below the message.
  expect(await rows()).toEqual(['Buy milk', 'Rest'].map((text) => expect.stringContaining(text)));
  expect(await filters()).toEqual(['All', 'Open', 'Done']);
  proxy.fault = undefined;
  await settles(stored, ['✓ Rest', 'Buy milk']);
  await hides(page(), 'not sent yet');
});

test('What is added shows where no list was ever loaded', async () => {
  proxy.fault = () => ({ answer: overload });
  await open('/todos');
  await add('Buy milk');
  await settles(rows, [expect.stringContaining('Buy milk')]);
});

test('A server that asks for a second is asked again, before a person is told', async () => {
  await open('/todos');
  const answer = { ...overload, headers: { 'retry-after': '1', ...json } };
  const refused: string[] = [];
  proxy.fault = ({ method = '' }) => {
    if (refused.includes(method)) return undefined;
    refused.push(method);
    return { answer };
  };
  const told = shows(page(), /not sent yet|could not/);
  const isNotTold = expect(told).rejects.toThrow();
  await page().reload();
  await shows(page(), 'There are no todos yet.');
  // The page says so where the second answer took long, and counts the change that waits.
  await hides(page(), 'takes too long');
  await add('Buy milk');
  await settles(stored, ['Buy milk']);
  expect(refused).toEqual(['GET', 'POST']);
  expect(proxy.count('POST')).toBe(2);
  await page().close();
  await isNotTold;
});
