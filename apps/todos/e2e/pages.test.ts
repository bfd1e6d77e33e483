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
  test('shows all, the open or the done, newest first, with how many there are', async () => {
    await store('One', '✓ Two', 'Three', '✓ Four');
    await page().goto('/todos');
    await settles(rows, ['Three', 'One', 'Four', 'Two']);
    await page().getByRole('link', { name: 'Open 2' }).click();
    await settles(rows, ['Three', 'One']);
    await page().getByRole('link', { name: 'Done 2' }).click();
    await settles(rows, ['Four', 'Two']);
    await page().getByRole('link', { name: 'All 4' }).click();
    await settles(rows, ['Three', 'One', 'Four', 'Two']);
  });

  test('is searched for any character, also after a reload', async () => {
    const descriptions = ['ÜBUNG 100%', 'a & b?c=d#e', String.raw`^.*+?()[]{}|\$/-`];
    await store(...descriptions);
    await page().goto('/todos');
    for (const [text, found] of [
      ['übung 100%', descriptions[0]],
      ['& B?C=D#', descriptions[1]],
      [descriptions[2]!, descriptions[2]],
    ] as const) {
      await page().getByRole('searchbox').fill(text);
      await settles(rows, [found]);
      await page().reload();
      await settles(rows, [found]);
      expect(await page().getByRole('searchbox').inputValue()).toBe(text);
    }
  });

  test('is searched for what was selected on the page of a todo, copied and pasted', async () => {
    const description = 'Buy  milk,\n\tbread\u00a0and “Käse”;\nthen rest 👩‍👩‍👧';
    await store('Something else', description);
    await page().goto('/todos/2');
    for (const [from, to] of [
      [0, 40],
      [2, 9],
      [5, 20],
      [9, 13],
      [10, 33],
      [20, 36],
    ] as const) {
      const selected = page().getByRole('heading', { level: 1, name: 'Buy' });
      await selected.evaluate(
        (element, [from, to]) => {
          const text = element.firstChild!;
          getSelection()!.setBaseAndExtent(text, from!, text, to!);
        },
        [from, to],
      );
      await page().keyboard.press('ControlOrMeta+C');
      await page().getByRole('link', { name: 'All todos' }).first().click();
      await page().getByRole('searchbox').click();
      await page().keyboard.press('ControlOrMeta+V');
      await page().getByRole('status').filter({ hasText: '1 todo is listed' }).waitFor({ state: 'attached' });
      await page().getByRole('listitem').filter({ hasText: 'Buy' }).waitFor();
      await page().goBack();
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

  test('keeps a toggled row in its place until the list is opened or filtered anew', async () => {
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

describe('Small things', () => {
  test('a title never ends within what is read as one character', async () => {
    const family = '👩‍👩‍👧‍👦';
    await store(family.repeat(20), `${'x'.repeat(38)}${family}${family}`);
    await page().goto('/todos/1');
    await settles(() => page().title(), `${family.repeat(20)} · Todos`);
    await page().goto('/todos/2');
    await settles(() => page().title(), `${'x'.repeat(38)}${family}${family} · Todos`);
    await store(`${'x'.repeat(38)}${family}yz`);
    await page().goto('/todos/3');
    await settles(() => page().title(), `${'x'.repeat(38)}${family}… · Todos`);
  });

  test('the search field stays where it is when another filter is chosen', async () => {
    await store('One', '✓ Two');
    await page().goto('/todos');
    const field = page().getByRole('searchbox');
    await page().getByRole('link', { name: 'Done 1' }).waitFor();
    const before = await field.boundingBox();
    for (const name of ['Open 1', 'Done 1', 'All 2']) {
      await page().getByRole('link', { name }).click();
      expect([name, await field.boundingBox()]).toEqual([name, before]);
    }
  });

  test('details say that a todo cannot be deleted; a tick is on the button that makes one', async () => {
    await store('✓ One');
    await page().goto('/todos/1');
    await shows(page(), 'A todo cannot be deleted: the service has no way to.');
    const again = page().getByRole('button', { name: 'Open it again' });
    expect(await again.locator('svg').count()).toBe(0);
    await again.click();
    await page().getByRole('button', { name: 'Mark as done' }).locator('svg').waitFor();
  });
});

describe('The form', () => {
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
    '%s can be opened by its address, with its title, heading, landmarks and language',
    async (path, name, title) => {
      await store('Buy milk');
      await page().goto(path);
      await settles(() => page().title(), title);
      await page().reload();
      await settles(heading, name);
      await settles(() => page().title(), title);
      expect(await page().getByRole('main').count()).toBe(1);
      expect(await page().getByRole('navigation', { name: 'Main' }).count()).toBe(1);
      expect(await page().locator('html').getAttribute('lang')).toBe('en');
    },
  );

  test('with two slashes is home', async () => {
    await page().goto(`${service().url}//`);
    await settles(heading, 'What’s left to do?');
  });

  test('focuses its heading or its field when it is opened from another, or by Back', async () => {
    await store('Buy milk');
    await page().goto('/');
    await page().getByRole('link', { name: 'See all todos' }).click();
    await hasFocus('h1:text("All todos")');
    await page().getByRole('link', { name: 'Buy milk', exact: true }).click();
    await hasFocus('h1:text("Buy milk")');
    await page().getByRole('link', { name: 'Edit' }).click();
    await hasFocus('textarea');
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
    const evil =
      '<img src=x onerror=alert(1)> <script>alert(1)</script> {{constructor}} &lt;b&gt; "><svg onload=alert(1)>';
    await store(evil);
    let dialogs = 0;
    page().on('dialog', (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    await page().goto('/todos');
    await settles(rows, [evil]);
    await page().goto('/todos/1');
    await settles(heading, evil);
    await page().goto('/todos/edit/1');
    expect(await page().getByLabel('Description').inputValue()).toBe(evil);
    await page().goto(`/todos?q=${encodeURIComponent(evil)}zebra`);
    await shows(page(), evil);
    expect(dialogs).toBe(0);
  });

  test('lets in no inline style or script and no markup from text', async () => {
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
      for (const width of [320, phone.width]) {
        await page().setViewportSize({ ...phone, width });
        const widths = await page().evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        expect([path, width, widths[0]! <= widths[1]!]).toEqual([path, width, true]);
      }
    }
  });
});
