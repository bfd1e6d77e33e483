import { describe, expect, test } from '@jest/globals';
import { isLoaded, phone, settles, shows, useService } from '../test/browser.ts';

const { page, open, proxy, store, stored, rows, button, link, heading, description } = useService();

const title = () => page().title();
const headingText = () => page().getByRole('heading', { level: 1 }).innerText();
const hasFocus = (selector: string) => page().locator(`${selector}:focus`).waitFor();

describe('Every page', () => {
  test.each([
    ['/', 'What’s left to do?', 'Todos'],
    ['//', 'What’s left to do?', 'Todos'],
    ['/todos', 'All todos', 'All todos · Todos'],
    ['/todos/', 'All todos', 'All todos · Todos'],
    ['/todos/1', 'Buy milk', 'Buy milk · Todos'],
    ['/todos/new', 'New todo', 'New todo · Todos'],
    ['/todos/edit/1', 'Edit todo', 'Edit “Buy milk” · Todos'],
    ['/todos/99', 'There is no such todo', 'Not found · Todos'],
    ['/todos/edit/99', 'There is no such todo', 'Not found · Todos'],
    ['/todos/%', 'There is no such todo', 'Not found · Todos'],
    ['/nowhere', 'There is no page here', 'Not found · Todos'],
    ['/todos/1/more', 'There is no page here', 'Not found · Todos'],
  ])('%s can be opened by its address, with its heading, title and landmarks', async (path, name, its) => {
    await store('Buy milk');
    await page().goto(proxy().url + path);
    await settles(title, its);
    await settles(headingText, name);
    expect(await page().getByRole('main').count()).toBe(1);
    expect(await page().getByRole('navigation', { name: 'Main' }).count()).toBe(1);
    expect(await page().locator('html').getAttribute('lang')).toBe('en');
  });

  test('focuses its heading or its field when it is opened from another, or by Back', async () => {
    await store('Buy milk');
    await open('/');
    await link('See all todos').click();
    await hasFocus('h1:text("All todos")');
    await link('Buy milk').click();
    await hasFocus('h1:text("Buy milk")');
    await link('Edit').click();
    await hasFocus('textarea');
    await page().goBack();
    await hasFocus('h1:text("Buy milk")');
    await page().goBack();
    await hasFocus('h1:text("All todos")');
    await page().goForward();
    await hasFocus('h1:text("Buy milk")');
    await link('New todo').click();
    await hasFocus('textarea');
  });

  test('shows descriptions as text, never as markup', async () => {
    const evil = '<img src=x onerror=alert(1)> <script>alert(1)</script> &lt;b&gt; "><svg onload=alert(1)>';
    await store(evil);
    let dialogs = 0;
    page().on('dialog', (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    await open('/todos');
    await settles(rows, [evil]);
    await page().goto('/todos/1');
    await settles(headingText, evil);
    await page().goto('/todos/edit/1');
    expect(await description().inputValue()).toBe(evil);
    await page().goto(`/todos?q=${encodeURIComponent(evil)}zebra`);
    await shows(page(), evil);
    expect(dialogs).toBe(0);
  });

  test('is no wider than a phone, also with letters of twice the size, whatever is in the todos', async () => {
    await store('x'.repeat(255), 'word '.repeat(51), '😀'.repeat(255));
    const paths = ['/', '/todos', '/todos/1', '/todos/2', '/todos/3', '/todos/new', '/todos/edit/1', '/nowhere'];
    for (const path of [...paths, `/todos?q=${'z'.repeat(255)}`]) {
      await page().goto(path);
      await isLoaded(page());
      for (const [width, letters] of [
        [320, '100%'],
        [phone.width, '200%'],
      ] as const) {
        await page().setViewportSize({ ...phone, width });
        await page().evaluate((size) => document.documentElement.style.setProperty('font-size', size), letters);
        const widths = await page().evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        expect([path, width, widths[0]! <= widths[1]!]).toEqual([path, width, true]);
      }
    }
  });
});

describe('Details', () => {
  test('show the whole text, line breaks and all, whether it is done, and that it cannot be deleted', async () => {
    const description = `First line\n\n  indented ${'long '.repeat(30)}end`;
    await store(`✓ ${description}`);
    await open('/todos/1');
    await settles(headingText, description);
    await shows(page(), 'A todo cannot be deleted: the service has no way to.');
    expect(await button('Open it again').locator('svg').count()).toBe(0);
    await button('Open it again').click();
    await button('Mark as done').locator('svg').waitFor();
    await settles(stored, [description]);
  });

  test('link to http and https alone, and tell nobody where from', async () => {
    const text =
      'Read https://example.org/a?b=c#d, (see http://example.org/x_(y)). Not javascript:alert(1) or ftp://example.org "https://example.org/q"';
    await store(text);
    await open('/todos/1');
    await heading('Read').waitFor();
    const links = await heading('Read')
      .getByRole('link')
      .evaluateAll((all) => all.map((each) => [each.getAttribute('href'), each.getAttribute('rel')]));
    const addresses = ['https://example.org/a?b=c#d', 'http://example.org/x_(y)', 'https://example.org/q'];
    expect(links).toEqual(addresses.map((address) => [address, 'noopener noreferrer']));
  });
});
