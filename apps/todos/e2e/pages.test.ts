import { describe, expect, test } from '@jest/globals';
import { isLoaded, phone, settles, shows, useService } from '../test/browser.ts';

const { page, errors, service, store, stored } = useService();

const heading = () => page().getByRole('heading', { level: 1 }).textContent();
const rows = () => page().getByRole('listitem').allInnerTexts();
const hasFocus = (selector: string) => page().locator(`${selector}:focus`).waitFor();

describe('Home', () => {
  test('says how many todos are open and done, each a way to them', async () => {
    await store('One', '✓ Two', 'Three');
    await page().goto('/');
    await page().getByRole('link', { name: '1 done' }).waitFor();
    await page().getByRole('link', { name: '2 open' }).click();
    await settles(rows, ['Three', 'One']);
  });
});

describe('The list', () => {
  test('shows all todos, open first, the newest of each first', async () => {
    await store('One', '✓ Two', 'Three', '✓ Four');
    await page().goto('/todos');
    await settles(rows, ['Three', 'One', 'Four', 'Two']);
  });

  test('shows all, the open or the done, with how many there are of each', async () => {
    await store('One', '✓ Two', 'Three');
    await page().goto('/todos');
    await page().getByRole('link', { name: 'Open 2' }).click();
    await settles(rows, ['Three', 'One']);
    await page().getByRole('link', { name: 'Done 1' }).click();
    await settles(rows, ['Two']);
    await page().getByRole('link', { name: 'All 3' }).click();
    await settles(rows, ['Three', 'One', 'Two']);
  });

  test('is searched without regard to case, and the search may hold any character', async () => {
    await store(
      'Buy Milk',
      'ÜBUNG 100%',
      'a & b?c=d#e',
      'ΣΗΜΑ ΟΔΟΣΗΜΑ',
      'Ο δρόμος',
      '300 \u212a',
      'Straße',
      String.raw`^.*+?()[]{}|\$/-`,
    );
    await page().goto('/todos');
    for (const [text, found] of [
      ['milk', 'Buy Milk'],
      ['übung', 'ÜBUNG 100%'],
      ['100%', 'ÜBUNG 100%'],
      ['& B?C=D#', 'a & b?c=d#e'],
      ['ΟΔΟΣ', 'ΣΗΜΑ ΟΔΟΣΗΜΑ'],
      ['οδος', 'ΣΗΜΑ ΟΔΟΣΗΜΑ'],
      ['ΔΡΌΜΟΣ', 'Ο δρόμος'],
      ['300 k', '300 \u212a'],
      ['STRAẞE', 'Straße'],
      [String.raw`^.*+?()[]{}|\$/-`, String.raw`^.*+?()[]{}|\$/-`],
    ] as const) {
      await page().getByRole('searchbox').fill(text);
      await settles(rows, [found]);
      await page().reload();
      await settles(rows, [found]);
      expect(await page().getByRole('searchbox').inputValue()).toBe(text);
    }
  });

  test('keeps filter and search in the address: reload, back and forward show them again', async () => {
    await store('Buy milk', '✓ Buy bread', 'Rest');
    await page().goto('/todos');
    await page().getByRole('link', { name: 'Done' }).click();
    await settles(rows, ['Buy bread']);
    await page().getByRole('link', { name: 'All 3' }).click();
    await page().getByRole('searchbox').fill('buy');
    await settles(rows, ['Buy milk', 'Buy bread']);
    await page().reload();
    await settles(rows, ['Buy milk', 'Buy bread']);
    await page().goBack();
    await settles(rows, ['Buy bread']);
    await page().goForward();
    await settles(rows, ['Buy milk', 'Buy bread']);
  });

  test('takes an unknown filter for all', async () => {
    await store('Buy milk');
    await page().goto('/todos?show=constructor');
    await settles(rows, ['Buy milk']);
    expect(await page().title()).toBe('All todos · Todos');
  });

  test('says when nothing fits, and leads back', async () => {
    await store('Buy milk');
    await page().goto('/todos?show=done&q=zebra');
    await shows(page(), 'No done todo contains “zebra”.');
    await page().getByRole('link', { name: 'Clear the search' }).click();
    await shows(page(), 'There are no done todos.');
    await page().getByRole('link', { name: 'Show all todos' }).click();
    await settles(rows, ['Buy milk']);
  });

  test('keeps a row that is toggled in its place until the list is opened or filtered anew', async () => {
    await store('One', 'Two', 'Three');
    await page().goto('/todos?show=open');
    await page().getByRole('checkbox', { name: 'Two' }).check();
    await page().getByRole('link', { name: 'Done 1' }).waitFor();
    expect(await rows()).toEqual(['Three', 'Two', 'One']);
    await settles(stored, ['One', '✓ Two', 'Three']);
    await page().reload();
    await settles(rows, ['Three', 'One']);
  });

  test('toggling a todo keeps a description that somebody else has changed meanwhile', async () => {
    await store('Buy milk');
    await page().goto('/todos');
    await page().getByRole('checkbox').waitFor();
    await service().request('PUT', '/api/todos', { id: 1, description: 'Buy oat milk', isCompleted: 0 });
    await page().getByRole('checkbox').check();
    await settles(stored, ['✓ Buy oat milk']);
    await settles(rows, ['Buy oat milk']);
  });

  test('is printed whole, and in dark letters on a light page', async () => {
    await store(...Array.from({ length: 300 }, (_, number) => `Number ${number}`));
    await page().emulateMedia({ colorScheme: 'dark' });
    await page().goto('/todos');
    await page().getByRole('checkbox').first().waitFor();
    expect(await page().locator('.todos li').count()).toBeLessThan(300);
    await page().evaluate(() => dispatchEvent(new Event('beforeprint')));
    await page().emulateMedia({ media: 'print' });
    await page().setViewportSize({ width: 700, height: 900 });
    await settles(() => page().locator('.todos li').count(), 300);
    expect(await page().getByRole('link', { name: 'Edit: ' }).count()).toBe(0);
    expect(
      await page()
        .locator('html')
        .evaluate((html) => getComputedStyle(html).color),
    ).toBe('rgb(28, 32, 30)');
    await page().emulateMedia({ media: 'screen' });
    await page().evaluate(() => dispatchEvent(new Event('afterprint')));
    await settles(async () => (await page().locator('.todos li').count()) < 300, true);
  });

  test('many clicks on one checkbox end with what it shows', async () => {
    await store('Buy milk');
    await page().goto('/todos');
    const checkbox = page().getByRole('checkbox');
    for (let click = 0; click < 7; click += 1) await checkbox.click();
    expect(await checkbox.isChecked()).toBe(true);
    await settles(stored, ['✓ Buy milk']);
    await page().reload();
    await settles(() => checkbox.isChecked(), true);
  });
});

describe('Details', () => {
  test('show the whole description, line breaks and all, and toggle it', async () => {
    const description = `First line\n\n  indented ${'long '.repeat(30)}end`;
    await store(description);
    await page().goto('/todos/1');
    await shows(page(), 'Todo 1');
    await settles(() => page().getByRole('heading', { level: 1 }).innerText(), description);
    await page().getByRole('button', { name: 'Mark as done' }).click();
    await page().getByRole('button', { name: 'Open it again' }).waitFor();
    await settles(stored, [`✓ ${description}`]);
  });
});

describe('The form', () => {
  test('saves what was changed in it, and keeps what somebody else has changed meanwhile', async () => {
    await store('Buy milk', 'Buy bread');
    await page().goto('/todos/edit/1');
    await page().getByLabel('Description').fill('Buy oat milk');
    await service().request('PUT', '/api/todos', { id: 1, description: 'Buy milk', isCompleted: 1 });
    await page().getByRole('button', { name: 'Save' }).click();
    await settles(stored, ['✓ Buy oat milk', 'Buy bread']);

    await page().goto('/todos/edit/2');
    await page().getByRole('checkbox', { name: 'Done' }).check();
    await service().request('PUT', '/api/todos', { id: 2, description: 'Buy rye bread', isCompleted: 0 });
    await page().getByRole('button', { name: 'Save' }).click();
    await settles(stored, ['✓ Buy oat milk', '✓ Buy rye bread']);
  });

  test('has kept nothing where what was typed has been taken back', async () => {
    await store('Buy milk');
    await page().goto('/todos/edit/1');
    await page().getByLabel('Description').fill('Buy');
    await page().getByLabel('Description').fill('Buy milk');
    await page().reload();
    await page().getByLabel('Description').waitFor();
    expect(await page().getByText('What you typed here before').count()).toBe(0);
  });
});

describe('Every page', () => {
  const addresses = [
    ['/', 'What’s left to do?', 'Todos'],
    ['/todos', 'All todos', 'All todos · Todos'],
    ['/todos/1', 'Buy milk', 'Buy milk · Todos'],
    ['/todos/new', 'New todo', 'New todo · Todos'],
    ['/todos/edit/1', 'Edit todo', 'Edit “Buy milk” · Todos'],
    ['/todos/99', 'There is no such todo', 'Not found · Todos'],
    ['/todos/edit/99', 'There is no such todo', 'Not found · Todos'],
    ['/todos/abc', 'There is no such todo', 'Not found · Todos'],
    ['/todos/%', 'There is no such todo', 'Not found · Todos'],
    ['/todos/edit/%zz', 'There is no such todo', 'Not found · Todos'],
    ['/nowhere', 'There is no page here', 'Not found · Todos'],
    ['/todos/1/more', 'There is no page here', 'Not found · Todos'],
    ['/todos/', 'All todos', 'All todos · Todos'],
  ] as const;

  test.each(addresses)(
    '%s can be opened by its address and reloaded, with its own title',
    async (path, name, title) => {
      await store('Buy milk');
      await page().goto(path);
      await settles(() => page().title(), title);
      await page().reload();
      await settles(heading, name);
      await settles(() => page().title(), title);
    },
  );

  test('with two slashes is home', async () => {
    await page().goto(`${service().url}//`);
    await settles(heading, 'What’s left to do?');
  });

  test('takes the focus when it is opened from another, back and forward too: to its heading, or to the field to write in', async () => {
    await store('Buy milk');
    await page().goto('/');
    await page().getByRole('link', { name: 'See all todos' }).click();
    await hasFocus('h1:text("All todos")');
    await page().getByRole('link', { name: 'Buy milk', exact: true }).click();
    await hasFocus('h1:text("Buy milk")');
    await page().getByRole('link', { name: 'Edit' }).click();
    await hasFocus('h1:text("Edit todo")');
    await page().goBack();
    await hasFocus('h1:text("Buy milk")');
    await page().goBack();
    await hasFocus('h1:text("All todos")');
    await page().goForward();
    await hasFocus('h1:text("Buy milk")');
    await page().getByRole('link', { name: 'New todo' }).click();
    await hasFocus('textarea');
    await page().goBack();
    await hasFocus('h1:text("Buy milk")');
    expect(await page().title()).toBe('Buy milk · Todos');
  });

  test('shows descriptions as text, never as markup', async () => {
    const evil = [
      '<img src=x onerror=alert(1)>',
      '<script>alert(1)</script>',
      '{{constructor}}',
      '&lt;b&gt;',
      '"><svg onload=alert(1)>',
    ];
    await store(...evil);
    let dialogs = 0;
    page().on('dialog', (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    await page().goto('/todos');
    await settles(rows, [...evil].reverse());
    for (const [index, text] of evil.entries()) {
      await page().goto(`/todos/${index + 1}`);
      await settles(heading, text);
      await page().goto(`/todos/edit/${index + 1}`);
      expect(await page().getByLabel('Description').inputValue()).toBe(text);
    }
    await page().goto(`/todos?q=${encodeURIComponent(evil[0]!)}${encodeURIComponent('zebra')}`);
    await shows(page(), evil[0]!);
    expect(dialogs).toBe(0);
  });

  test('is under a Content-Security-Policy that lets no inline style or script and no markup from text in', async () => {
    await page().goto('/todos');
    const refused = await page().evaluate(() => {
      const paragraph = document.body.appendChild(document.createElement('p'));
      paragraph.setAttribute('style', 'color: rgb(1, 2, 3)');
      const attempts = [
        () => (document.createElement('script').textContent = 'document.title = "broken in"'),
        () => (paragraph.innerHTML = '<b>markup</b>'),
        () => paragraph.setAttribute('onclick', 'document.title = "broken in"'),
      ];
      const isRefused = attempts.map((attempt) => {
        try {
          attempt();
          return false;
        } catch {
          return true;
        }
      });
      return [getComputedStyle(paragraph).color !== 'rgb(1, 2, 3)', ...isRefused];
    });
    expect(refused).toEqual([true, true, true, true]);
    expect(errors().splice(0)).toHaveLength(4);
  });

  test('links to the description of the API, which leaves the client', async () => {
    await page().goto('/');
    await page().getByRole('link', { name: 'The API' }).click();
    await page().waitForURL(/\/docs/);
  });
});

describe('On a phone', () => {
  test('no page is wider than the window, whatever is in the todos', async () => {
    await store('x'.repeat(255), 'word '.repeat(51), '😀'.repeat(255));
    for (const width of [320, phone.width]) {
      await page().setViewportSize({ ...phone, width });
      for (const path of [
        '/',
        '/todos',
        '/todos/1',
        '/todos/2',
        '/todos/3',
        '/todos/new',
        '/todos/edit/1',
        `/todos?q=${'z'.repeat(255)}`,
        '/nowhere',
      ]) {
        await page().goto(path);
        await isLoaded(page());
        const widths = await page().evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        expect([path, width, widths[0]! <= widths[1]!]).toEqual([path, width, true]);
      }
    }
  });
});
