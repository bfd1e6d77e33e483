import { expect, test } from '@jest/globals';
import { isLoaded, phone, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const { page, open, proxy, store, stored, button, heading } = useService();

const headingText = () => page().getByRole('heading', { level: 1 }).innerText();

const evil = '<img src=x onerror=alert(1)> <script>alert(1)</script> &lt;b&gt; "><svg onload=alert(1)>';
const long = 'x'.repeat(255);

test.each([
  ['/', 'What’s left to do?', 'Todos'],
  ['/todos', 'All todos', 'All todos · Todos'],
  ['/todos/', 'All todos', 'All todos · Todos'],
  [`/todos?q=${'z'.repeat(255)}`, 'All todos', 'All todos · Todos'],
  ['/todos/1', 'Buy milk', 'Buy milk · Todos'],
  ['/todos/2', 'See https://example.org/a', 'See https://example.org/a · Todos'],
  ['/todos/3', evil, `${evil.slice(0, 39)}… · Todos`],
  ['/todos/4', long, `${'x'.repeat(39)}… · Todos`],
  ['/todos/new', 'New todo', 'New todo · Todos'],
  ['/todos/edit/1', 'Edit todo', 'Edit “Buy milk” · Todos'],
  ['/todos/99', 'There is no such todo', 'Not found · Todos'],
  ['/todos/edit/99', 'There is no such todo', 'Not found · Todos'],
  ['/todos/1/more', 'There is no page here', 'Not found · Todos'],
])('%s has its heading and title, room on a phone, and nothing that axe finds', async (path, name, title) => {
  await store('Buy milk', '✓ See https://example.org/a', evil, long);
  await page().goto(proxy.url + path);
  await settles(() => page().title(), title);
  await settles(headingText, name);
  await isLoaded(page());
  expect(await page().getByRole('navigation', { name: 'Main' }).count()).toBe(1);
  expect(await page().locator('html').getAttribute('lang')).toBe('en');
  await axeFindsNothing(page());
  // Nothing is wider than a phone, also with letters of twice the size.
  for (const [letters, width] of Object.entries({ '100%': 320, '200%': phone.width })) {
    await page().setViewportSize({ ...phone, width });
    await page().evaluate((size) => document.documentElement.style.setProperty('font-size', size), letters);
    const isNarrow = await page().evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    expect([width, isNarrow]).toEqual([width, true]);
  }
});

test('Details show the whole text, web addresses as links, and that it is not deleted', async () => {
  const description = `First line

  indented ${'long '.repeat(9)}end, https://example.org/a?b=c#d, (see http://example.org/x_(y)). Not javascript:alert(1) or ftp://example.org "https://example.org/q"`;
  await open('/todos/1', `✓ ${description}`);
  await settles(headingText, description);
  const links = await heading('First line')
    .getByRole('link')
    .evaluateAll((all) => all.map((each) => [each.getAttribute('href'), each.getAttribute('rel')]));
  const addresses = ['https://example.org/a?b=c#d', 'http://example.org/x_(y)', 'https://example.org/q'];
  expect(links).toEqual(addresses.map((address) => [address, 'noopener noreferrer']));
  await shows(page(), 'A todo cannot be deleted: the service has no way to.');
  expect(await button('Open it again').locator('svg').count()).toBe(0);
  await button('Open it again').click();
  await button('Mark as done').locator('svg').waitFor();
  await settles(stored, [description]);
});
