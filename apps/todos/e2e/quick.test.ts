import { describe, expect, test } from '@jest/globals';
import { hides, hold, isLoaded, paste, settles, shows, useService } from '../test/browser.ts';

const { page, service, store, stored, breakDatabase } = useService();

const rows = () => page().getByRole('listitem').allInnerTexts();
const field = () => page().getByRole('textbox', { name: 'New todo' });
const press = async (...keys: string[]) => {
  for (const key of keys) await page().keyboard.press(key);
};
const focused = () =>
  page().evaluate(() => {
    const { activeElement } = document;
    return activeElement?.getAttribute('aria-label') ?? activeElement?.textContent.trim();
  });
describe('The field above the list', () => {
  test('adds a todo at each Enter, and keeps the focus', async () => {
    await page().goto('/todos');
    await field().click();
    for (const text of ['Buy milk', 'Buy bread', '  Rest ']) {
      await page().keyboard.type(text);
      await press('Enter');
    }
    await settles(rows, ['Rest', 'Buy bread', 'Buy milk']);
    expect(await stored()).toEqual(['Buy milk', 'Buy bread', 'Rest']);
    expect(await focused()).toBe('New todo');
    expect(await field().inputValue()).toBe('');
  });

  test('saves one after the other, however slow the service is', async () => {
    await page().goto('/todos');
    const release = await hold(page(), 'POST');
    await field().click();
    for (const text of ['One', 'Two', 'Three']) {
      await page().keyboard.type(text);
      await press('Enter');
    }
    await page().getByRole('button', { name: 'Saving…' }).waitFor();
    release();
    await settles(stored, ['One', 'Two', 'Three']);
    await page().getByRole('button', { name: 'Add' }).waitFor();
  });

  test('adds nothing blank, and keeps what is too long', async () => {
    await page().goto('/todos');
    await field().fill('   ');
    await press('Enter');
    await field().fill('😀'.repeat(256));
    await shows(page(), 'This is too long: 255 characters fit.');
    await press('Enter');
    await field().fill('😀'.repeat(255));
    await hides(page(), 'too long');
    await press('Enter');
    await settles(stored, ['😀'.repeat(255)]);
  });

  test('keeps what could not be saved in the list, and sends it again', async () => {
    await page().goto('/todos');
    await isLoaded(page());
    const mend = await breakDatabase();
    await field().fill('Buy milk');
    await press('Enter');
    await shows(page(), 'The server has a problem. 1 change is not sent yet.');
    await settles(rows, ['Buy milk\nNot sent yet']);
    await page().getByRole('button', { name: 'Add', exact: true }).waitFor();
    await mend();
    await settles(stored, ['Buy milk']);
    await settles(rows, ['Buy milk']);
    await hides(page(), 'not sent yet');
  });

  test('keeps what is half typed through a reload', async () => {
    await page().goto('/todos');
    await field().fill('Buy mi');
    await page().reload();
    await settles(() => field().inputValue(), 'Buy mi');
    await field().press('End');
    await field().pressSequentially('lk');
    await press('Enter');
    await settles(stored, ['Buy milk']);
    await page().reload();
    await isLoaded(page());
    expect(await field().inputValue()).toBe('');
  });

  test('says how many characters are left in a long text', async () => {
    await page().goto('/todos');
    await field().fill('x'.repeat(199));
    expect(await page().getByText('characters left').count()).toBe(0);
    await field().fill('x'.repeat(205));
    await shows(page(), '50 characters left');
  });

  test('says so when the list does not show what was added', async () => {
    await store('✓ Buy milk');
    await page().goto('/todos?show=done');
    await field().fill('Buy bread');
    await press('Enter');
    await shows(page(), '“Buy bread” is saved, but not among those that are listed here.');
    expect(await rows()).toEqual(['Buy milk']);
  });
});

describe('Several lines pasted', () => {
  test('become several todos after a question', async () => {
    await page().goto('/todos');
    await field().click();
    await paste(page(), 'Buy milk\r\n\n  Buy bread\n\tRest\n');
    const dialog = page().getByRole('dialog', { name: 'Make 3 todos of 3 lines?' });
    await dialog.getByRole('listitem').filter({ hasText: 'Rest' }).waitFor();
    expect(await stored()).toEqual([]);
    await press('Enter');
    await settles(stored, ['Buy milk', 'Buy bread', 'Rest']);
    await settles(rows, ['Rest', 'Buy bread', 'Buy milk']);
    expect(await focused()).toBe('New todo');
  });

  test('become one line if that is wanted, or nothing', async () => {
    await page().goto('/todos');
    await field().fill('Buy:');
    await field().press('End');
    await paste(page(), ' milk\nbread');
    await press('Escape');
    await page().getByRole('dialog').waitFor({ state: 'detached' });
    expect([await focused(), await field().inputValue()]).toEqual(['New todo', 'Buy:']);
    await paste(page(), ' milk\nbread');
    await page().getByRole('button', { name: 'Paste as one line' }).click();
    await settles(() => field().inputValue(), 'Buy:milk bread');
    await press('Enter');
    await settles(stored, ['Buy:milk bread']);
  });

  test('leave those in the field that are too long', async () => {
    await page().goto('/todos');
    await field().click();
    await paste(page(), `One\n${'x'.repeat(300)}\nTwo`);
    await shows(page(), '1 of the lines is too long');
    await page().getByRole('button', { name: 'Add 2 todos' }).click();
    await settles(stored, ['One', 'Two']);
    expect(await field().inputValue()).toBe('x'.repeat(300));
    await shows(page(), 'This is too long');
  });

  test('stay in their order when they could not be saved at first', async () => {
    await page().goto('/todos');
    await isLoaded(page());
    const mend = await breakDatabase();
    await field().click();
    await paste(page(), 'One\nTwo\nThree');
    await press('Enter');
    await shows(page(), '3 changes are not sent yet.');
    await mend();
    await settles(stored, ['One', 'Two', 'Three']);
  });
});

describe('A tick', () => {
  test('can be undone, by the button or by Ctrl Z', async () => {
    await store('Buy milk', 'Buy bread');
    await page().goto('/todos');
    await page().getByRole('checkbox', { name: 'Buy milk' }).check();
    await shows(page(), '“Buy milk” is done.');
    await settles(stored, ['✓ Buy milk', 'Buy bread']);
    await page().getByRole('button', { name: 'Undo' }).click();
    await settles(stored, ['Buy milk', 'Buy bread']);
    await hides(page(), 'is done.');
    expect(await focused()).toBe('Done: Buy milk');

    await press('Space');
    await settles(stored, ['✓ Buy milk', 'Buy bread']);
    await press('ControlOrMeta+z');
    await settles(stored, ['Buy milk', 'Buy bread']);
  });

  test('can be undone before it has arrived', async () => {
    await store('Buy milk');
    await page().goto('/todos');
    await page().getByRole('checkbox').waitFor();
    const release = await hold(page(), 'PUT');
    await page().getByRole('checkbox').check();
    await page().getByRole('button', { name: 'Undo' }).click();
    expect(await page().getByRole('checkbox').isChecked()).toBe(false);
    const written = page().waitForResponse((response) => response.request().method() === 'PUT');
    release();
    await written;
    await settles(stored, ['Buy milk']);
  });
});

describe('Several todos', () => {
  test('are selected, ticked together, and that is undone', async () => {
    await store('One', 'Two', '✓ Three', 'Four', 'Five');
    await page().goto('/todos');
    await page().getByRole('button', { name: 'Select' }).click();
    await page().getByRole('checkbox', { name: 'Select: Five' }).click();
    await page()
      .getByRole('checkbox', { name: 'Select: Two' })
      .click({ modifiers: ['Shift'] });
    await page().getByRole('checkbox', { name: 'Select: Three' }).click();
    await shows(page(), '4 selected');
    await page().getByRole('button', { name: 'Mark as done' }).click();
    await settles(stored, ['One', '✓ Two', '✓ Three', '✓ Four', '✓ Five']);
    await shows(page(), '3 todos are done.');
    expect(await focused()).toBe('Select');
    await settles(rows, ['Five', 'Four', 'Two', 'One', 'Three']);
    await page().getByRole('button', { name: 'Undo' }).click();
    await settles(stored, ['One', 'Two', '✓ Three', 'Four', 'Five']);
  });

  test('are all that a search has found, if that is wanted', async () => {
    await store('Buy milk', 'Rest', 'Buy bread');
    await page().goto('/todos?q=buy');
    await page().getByRole('button', { name: 'Select' }).click();
    await page().getByRole('button', { name: 'All', exact: true }).click();
    await shows(page(), '2 selected');
    await page().getByRole('button', { name: 'Mark as done' }).click();
    await settles(stored, ['✓ Buy milk', 'Rest', '✓ Buy bread']);
  });

  test('are said to be unsent when they could not be saved, and sent again', async () => {
    await store('One', 'Two', 'Three');
    await page().goto('/todos');
    await page().getByRole('button', { name: 'Select' }).click();
    await page().getByRole('button', { name: 'All', exact: true }).click();
    const mend = await breakDatabase();
    await page().getByRole('button', { name: 'Mark as done' }).click();
    await shows(page(), 'The server has a problem. 3 changes are not sent yet.');
    await shows(page(), '0 of 3 todos are done.');
    await mend();
    await settles(stored, ['✓ One', '✓ Two', '✓ Three']);
    await shows(page(), /^3 todos are done\.$/);
  });
});

describe('By its keys', () => {
  test('n, / and ? lead to the field, the search and the list of keys', async () => {
    await store('Buy milk');
    await page().goto('/todos');
    await page().getByRole('checkbox').waitFor();
    await press('n');
    expect(await focused()).toBe('New todo');
    await press('n', '/', '?');
    expect(await field().inputValue()).toBe('n/?');
    await field().blur();
    await press('/');
    expect(await focused()).toBe('Search');
    await page().getByRole('searchbox').blur();
    await press('?');
    await page().getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await press('Escape');
    await page().getByRole('dialog').waitFor({ state: 'detached' });

    await page().goto('/todos/1');
    await isLoaded(page());
    await press('/');
    await page().locator('[type=search]:focus').waitFor();
    await page().goto('/');
    await isLoaded(page());
    await press('n');
    await page().locator('textarea:focus').waitFor();
  });

  test('can be turned off, since they may be in the way of speech or habit', async () => {
    await page().goto('/todos');
    await page().getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await page().getByRole('checkbox', { name: 'Use n, / and ?' }).uncheck();
    await page().getByRole('button', { name: 'Close' }).click();
    await page().reload();
    await isLoaded(page());
    await press('n');
    expect(await focused()).not.toBe('New todo');
  });

  test('arrows walk through the list, and Space ticks', async () => {
    await store(...Array.from({ length: 100 }, (_, n) => `Number ${n + 1}`));
    await page().goto('/todos');
    await page().getByRole('checkbox').first().waitFor();
    await press('/', 'ArrowDown');
    expect(await focused()).toBe('Done: Number 100');
    for (let row = 0; row < 60; row += 1) await press('ArrowDown');
    expect(await focused()).toBe('Done: Number 40');
    await press('Tab', 'ArrowUp');
    expect(await focused()).toBe('Number 41');
    await press('Space');
    await settles(async () => (await stored())[40], '✓ Number 41');
    expect(await focused()).toBe('Number 41');
    for (let row = 0; row < 60; row += 1) await press('ArrowUp');
    expect(await focused()).toBe('Search');
  });
});

describe('Links in a todo', () => {
  test('of http and https can be followed from its page, and tell nobody where from', async () => {
    const text =
      'Read https://example.org/a?b=c#d, (see http://example.org/x_(y)). Not javascript:alert(1) or ftp://example.org "https://example.org/q"';
    await store(text);
    await page().goto('/todos/1');
    const heading = page().getByRole('heading', { level: 1 });
    await settles(() => heading.innerText(), text);
    const links = await heading
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]));
    expect(links).toEqual(
      ['https://example.org/a?b=c#d', 'http://example.org/x_(y)', 'https://example.org/q'].map((address) => [
        address,
        'noopener noreferrer',
      ]),
    );
  });
});

describe('What others write', () => {
  test('appears by itself while the tab is visible, above what is being read', async () => {
    await store(...Array.from({ length: 100 }, (_, n) => `Number ${n + 1}`));
    await page().clock.install();
    await page().goto('/todos');
    await page().getByRole('checkbox').first().waitFor();
    await store('Of another');
    await page().clock.runFor(16_000);
    await page().getByRole('link', { name: 'Of another', exact: true }).waitFor();

    await page().evaluate(() => scrollTo(0, 3000));
    await page().clock.runFor(1000);
    const row = page().getByRole('link', { name: 'Number 60', exact: true });
    const before = await row.boundingBox();
    await store('Of a third', 'Of a fourth');
    await page().clock.runFor(16_000);
    await page().getByRole('link', { name: 'All 103' }).waitFor();
    await settles(() => row.boundingBox(), before);
  });

  test('is not asked for while the tab is hidden', async () => {
    await page().clock.install();
    await page().goto('/todos');
    await isLoaded(page());
    let requests = 0;
    page().on('request', () => (requests += 1));
    await page().evaluate(() => Object.defineProperty(document, 'hidden', { get: () => true, configurable: true }));
    await page().clock.runFor(60_000);
    expect(requests).toBe(0);
    await page().evaluate(() => Object.defineProperty(document, 'hidden', { get: () => false }));
    const polled = page().waitForRequest('**/api/todos');
    await page().clock.runFor(16_000);
    await polled;
  });
});

describe('A list that has no tag, because it is too long for one', () => {
  test('is not read every 15 seconds', async () => {
    let requests = 0;
    await page().route('**/api/todos', (route) => {
      requests += 1;
      return route.fulfill({ json: [{ id: 1, description: 'Buy milk', isCompleted: 0 }] });
    });
    await page().clock.install();
    await page().goto('/todos');
    await settles(rows, ['Buy milk']);
    await page().clock.runFor(240_000);
    expect(requests).toBe(1);
    const polled = page().waitForRequest('**/api/todos');
    await page().clock.runFor(75_000);
    await polled;
  });
});

describe('A list of 10,000 todos', () => {
  test('is not sent again while it is the same: home, list, one and back', async () => {
    await store(...Array.from({ length: 100 }, (_, n) => `Number ${n + 1}`));
    const statuses: number[] = [];
    page().on('response', (response) => {
      if (new URL(response.url()).pathname === '/api/todos') statuses.push(response.status());
    });
    const seen = () => page().evaluate((statuses) => statuses, statuses);
    await page().goto('/');
    await page().getByRole('link', { name: '100 open' }).click();
    await settles(seen, [200, 304]);
    await page().getByRole('link', { name: 'Number 99', exact: true }).click();
    await page().getByRole('heading', { name: 'Number 99' }).waitFor();
    await page().goBack();
    await settles(seen, [200, 304, 304]);

    await store('Of another');
    await page().goBack();
    await page().getByRole('link', { name: '101 open' }).waitFor();
    await settles(seen, [200, 304, 304, 200]);
  });

  test('comes again when a todo was shown that differs, though the list is as it was', async () => {
    await store('Buy milk', 'Buy bread');
    await page().goto('/todos');
    await settles(rows, ['Buy bread', 'Buy milk']);
    const put = (description: string) => service().request('PUT', '/api/todos', { id: 1, description, isCompleted: 0 });
    await put('Buy oat milk');
    await page().getByRole('link', { name: 'Buy milk', exact: true }).click();
    await page().getByRole('heading', { name: 'Buy oat milk' }).waitFor();
    await put('Buy milk');
    await page().goBack();
    await settles(rows, ['Buy bread', 'Buy milk']);
  });

  test('is asked for together with the script of the pages that show it', async () => {
    const links = await Promise.all(
      ['/', '/todos', '/todos?q=a', '/todos/1'].map(async (path) => {
        const response = await page().request.get(path);
        return response.headers().link ?? null;
      }),
    );
    const preload = '</api/todos>; rel=preload; as=fetch; crossorigin';
    expect(links).toEqual([preload, preload, preload, null]);
    let requests = 0;
    page().on('request', (request) => (requests += Number(request.url().endsWith('/api/todos'))));
    await page().goto('/todos');
    await shows(page(), 'There are no todos yet.');
    expect(requests).toBe(1);
  });
});
