import { describe, expect, test } from '@jest/globals';
import type { Route } from 'playwright-core';
import { hides, hold, settles, shows, useService } from '../test/browser.ts';

const { page, service, store, stored, breakDatabase } = useService();

const description = () => page().getByLabel('Description');
const save = () => page().getByRole('button', { name: 'Save' });
/** Saves a new todo. @returns what lets the request, which has left the page, reach the service */
async function saveSlowly() {
  await page().goto('/todos/new');
  const release = await hold(page(), 'POST');
  await description().fill('Buy milk');
  await save().click();
  await page().getByRole('button', { name: 'Saving…' }).waitFor();
  return release;
}

const rows = () => page().getByRole('listitem').allInnerTexts();

async function goOffline() {
  await page().context().setOffline(true);
  await shows(page(), 'You are offline. What is shown may be out of date');
}

describe('Loading', () => {
  test.each([
    ['/', 'text=1 open'],
    ['/todos', 'li >> text=Buy milk'],
    ['/todos/1', 'h1:text("Buy milk")'],
    ['/todos/edit/1', 'textarea'],
  ])('%s says that it loads, then shows what came', async (path, content) => {
    await store('Buy milk');
    const release = await hold(page(), 'GET');
    await page().goto(path);
    await page().getByRole('status').getByText('Loading…').waitFor();
    expect(await page().locator(content).isVisible()).toBe(false);
    release();
    await page().locator(content).waitFor();
    await hides(page(), 'Loading…');
  });

  test('is not shown where data are there from before: they are brought up to date', async () => {
    await store('Buy milk');
    await page().goto('/');
    await shows(page(), '1 open');
    await store('Buy bread');
    const release = await hold(page(), 'GET');
    await page().getByRole('link', { name: '1 open' }).click();
    await settles(rows, ['Buy milk']);
    release();
    await settles(rows, ['Buy bread', 'Buy milk']);
  });
});

describe('What others have written meanwhile', () => {
  test.each(['/', '/todos', '/todos/1'])('%s shows it when the tab is shown again', async (path) => {
    await store('Buy milk');
    await page().goto(path);
    await shows(page(), path === '/' ? '1 open' : 'Buy milk');
    await service().db.updateTable('todo').set({ description: 'Buy bread' }).execute();
    await store('Buy soap');
    await page().evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await shows(page(), path === '/' ? '2 open' : 'Buy bread');
  });

  test('does not vanish when a list comes late that was asked for before', async () => {
    await store('Buy milk');
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    const sent = new Promise<void>((resolve) => {
      void page().route(
        '**/api/todos',
        async (route) => {
          const response = await route.fetch();
          resolve();
          await released;
          await route.fulfill({ response });
        },
        { times: 1 },
      );
    });
    await page().goto('/');
    await sent;
    await store('Buy bread');
    await page().getByRole('link', { name: 'All todos' }).first().click();
    await settles(rows, ['Buy bread', 'Buy milk']);
    const late = page().waitForEvent('requestfinished');
    release();
    await late;
    await page().evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    expect(await rows()).toEqual(['Buy bread', 'Buy milk']);
  });
});

describe('Nothing there yet', () => {
  test('home and list say so and lead to the form', async () => {
    await page().goto('/');
    await shows(page(), 'There are no todos yet.');
    await page().goto('/todos');
    await page().getByRole('link', { name: 'Write down the first one' }).click();
    await description().waitFor();
  });
});

describe('The form', () => {
  test('does not save a blank description, and says so beside the field', async () => {
    await page().goto('/todos/new');
    for (const blank of ['', '   ', '\n\t']) {
      await description().fill(blank);
      await save().click();
      await shows(page(), 'Write down what is to be done.');
      expect(await description().getAttribute('aria-invalid')).toBe('true');
      expect(await description().getAttribute('aria-describedby')).toContain(
        await page().getByText('Write down what is to be done.').getAttribute('id'),
      );
      await page().locator('textarea:focus').waitFor();
      await description().fill('Buy milk');
      await hides(page(), 'Write down what is to be done.');
    }
    expect(await stored()).toEqual([]);
  });

  test('counts code points while typing and takes 255 of them, of any plane', async () => {
    await page().goto('/todos/new');
    await shows(page(), '0 of 255 characters');
    await description().fill('😀é');
    await shows(page(), '2 of 255 characters');
    await description().fill('😀'.repeat(236));
    await shows(page(), 'No more than 20 characters are left');
    await description().fill('😀'.repeat(256));
    await shows(page(), '256 of 255 characters');
    await shows(page(), 'This is too long: 255 characters fit.');
    await save().click();
    await page().locator('textarea:focus').waitFor();
    expect(await stored()).toEqual([]);

    await description().fill('😀'.repeat(255));
    await hides(page(), 'too long');
    await save().click();
    await settles(stored, ['😀'.repeat(255)]);
  });

  test('says beside the field what the service refuses', async () => {
    await page().goto('/todos/new');
    await description().fill('a\0b');
    await save().click();
    await settles(
      () => page().locator('#description-error').innerText(),
      'Description must not contain NUL or unpaired surrogates',
    );
    expect(await description().inputValue()).toBe('a\0b');
  });

  test('says that it saves, sends once however often it is asked, and says that it saved', async () => {
    await page().goto('/todos/new');
    const release = await hold(page(), 'POST');
    await description().fill('Buy milk');
    await description().press('Enter');
    const saving = page().getByRole('button', { name: 'Saving…' });
    await saving.click({ force: true });
    await description().press('Enter');
    release();
    await shows(page(), 'Saved.');
    await settles(rows, ['Buy milk']);
    expect(await stored()).toEqual(['Buy milk']);
  });

  test('is followed by the beginning of the next page, however far it was scrolled', async () => {
    await store('Buy milk '.repeat(25));
    await page().setViewportSize({ width: 320, height: 200 });
    await page().goto('/todos/edit/1');
    await description().fill('Buy bread '.repeat(25));
    await save().scrollIntoViewIfNeeded();
    expect(await page().evaluate(() => scrollY)).toBeGreaterThan(0);
    await save().click();
    await shows(page(), 'Mark as done');
    await settles(() => page().evaluate(() => scrollY), 0);
  });

  test('saves on Enter and begins a new line with Shift', async () => {
    await page().goto('/todos/new');
    await description().pressSequentially('Buy');
    await description().press('Shift+Enter');
    await description().pressSequentially('milk');
    await description().press('Enter');
    await settles(stored, ['Buy\nmilk']);
  });

  test('is left unsaved by Cancel', async () => {
    await store('Buy milk');
    await page().goto('/todos/edit/1');
    await description().fill('Nonsense');
    await page().getByRole('link', { name: 'Cancel' }).click();
    await page().getByRole('heading', { name: 'Buy milk' }).waitFor();
    await page().getByRole('link', { name: 'Edit' }).click();
    expect(await description().inputValue()).toBe('Buy milk');
    expect(await stored()).toEqual(['Buy milk']);
  });
});

describe('While a save is on its way', () => {
  test('nothing can be typed that would be lost', async () => {
    const release = await saveSlowly();
    await description().press('x');
    expect(await description().inputValue()).toBe('Buy milk');
    release();
    await settles(stored, ['Buy milk']);
  });

  test('another page can be opened, and stays; the form is empty when it is opened again', async () => {
    const release = await saveSlowly();
    await page().getByRole('link', { name: 'Todos', exact: true }).click();
    await page().getByRole('link', { name: 'New todo' }).first().click();
    expect(await description().inputValue()).toBe('');
    await description().fill('Buy bread');
    release();
    await shows(page(), 'Saved.');
    expect(await description().inputValue()).toBe('Buy bread');
    expect(await stored()).toEqual(['Buy milk']);
  });

  test('and it fails when the page has been left, it is sent again, and until then the page says so', async () => {
    await store('Buy bread');
    const release = await saveSlowly();
    const mend = await breakDatabase();
    await page().getByRole('link', { name: 'Todos', exact: true }).click();
    release();
    await shows(page(), 'The server has a problem. 1 change is not sent yet. This browser keeps it, and tries again.');
    const failedAgain = page().waitForResponse((response) => response.request().method() === 'POST');
    await page().getByRole('button', { name: 'Try again' }).first().click();
    expect((await failedAgain).status()).toBe(500);
    await mend();
    await settles(stored, ['Buy bread', 'Buy milk']);
    await hides(page(), 'not sent yet');
    await page().getByRole('link', { name: 'New todo' }).first().click();
    expect(await description().inputValue()).toBe('');
  });
});

describe('While a save is on its way, a form that is left', () => {
  test('by a reload is saved all the same, once', async () => {
    const release = await saveSlowly();
    await page().reload();
    await description().waitFor();
    expect(await description().inputValue()).toBe('');
    release();
    await settles(stored, ['Buy milk']);
    await page().getByRole('link', { name: 'All todos' }).first().click();
    await settles(rows, ['Buy milk']);
    expect(await stored()).toEqual(['Buy milk']);
  });

  test('leaves what is typed next, and is sent again when it fails', async () => {
    const release = await saveSlowly();
    const mend = await breakDatabase();
    await page().getByRole('link', { name: 'Todos', exact: true }).click();
    await page().getByRole('link', { name: 'New todo' }).first().click();
    await description().fill('Buy bread');
    release();
    await shows(page(), '1 change is not sent yet.');
    await mend();
    await settles(stored, ['Buy milk']);
    await page().reload();
    await shows(page(), 'What you typed here before has been kept.');
    expect(await description().inputValue()).toBe('Buy bread');
  });
});

test('“Saved.” goes by itself, but not while it has the focus', async () => {
  await store('Buy milk');
  await page().clock.install();
  await page().goto('/todos/edit/1');
  await save().click();
  await shows(page(), 'Saved.');
  await page().getByRole('button', { name: 'Close' }).focus();
  await page().clock.fastForward(9_000);
  expect(await page().getByText('Saved.').count()).toBe(1);
  await page().getByRole('heading', { level: 1 }).focus();
  await page().clock.fastForward(9_000);
  await hides(page(), 'Saved.');
});

test('A notice goes by Escape, unless that was meant for a field', async () => {
  await store('Buy milk');
  await page().goto('/todos');
  await page().getByRole('checkbox').click();
  await shows(page(), '“Buy milk” is done.');
  const search = page().getByRole('searchbox');
  await search.fill('milk');
  await search.press('Escape');
  await settles(() => search.inputValue(), '');
  expect(await page().getByText('is done.').count()).toBe(1);
  await page().getByRole('checkbox').press('Escape');
  await hides(page(), 'is done.');
});

describe('What was typed', () => {
  test('is not lost by a reload or by leaving the page, until it is discarded', async () => {
    await page().goto('/todos/new');
    await description().fill('Buy bread');
    await page().reload();
    await shows(page(), 'What you typed here before has been kept.');
    expect(await description().inputValue()).toBe('Buy bread');
    await page().getByRole('link', { name: 'All todos' }).first().click();
    await page().getByRole('link', { name: 'New todo' }).first().click();
    expect(await description().inputValue()).toBe('Buy bread');
    await page().getByRole('button', { name: 'Discard it' }).click();
    expect(await description().inputValue()).toBe('');
    await page().locator('textarea:focus').waitFor();
    await page().reload();
    await description().waitFor();
    expect(await description().inputValue()).toBe('');
  });
});

describe('A save that fails', () => {
  test.each([
    ['/todos/new', []],
    ['/todos/edit/1', ['Buy milk']],
  ])('at %s is shown as not sent, and sent again until it works', async (path, before) => {
    if (before.length > 0) await store(...before);
    await page().goto(path);
    await description().fill('Buy bread');
    const mend = await breakDatabase();
    await save().click();
    await shows(page(), 'The server has a problem. 1 change is not sent yet.');
    await page()
      .getByRole('heading', { name: before.length > 0 ? 'Buy bread' : 'All todos' })
      .waitFor();
    expect(
      await page()
        .getByText(/^Saved\.$/)
        .count(),
    ).toBe(0);
    await mend();
    await settles(stored, ['Buy bread']);
    await hides(page(), 'not sent yet');
  });

  test('says so where the server has too much to do', async () => {
    await page().goto('/todos/new');
    await page().route(/\/api\/todos/, (route) => route.fulfill({ status: 503, json: { message: 'Overloaded' } }));
    await description().fill('Buy bread');
    await save().click();
    await shows(page(), 'The server has too much to do. Try again in a moment. 1 change is not sent yet.');
  });

  test('once, with a time to come back, is sent again then, and nobody is told', async () => {
    const overloaded = { status: 503, headers: { 'retry-after': '1' }, json: { message: 'Overloaded' } };
    await page().goto('/todos/new');
    await page().route('**/api/todos', (route) => route.fulfill(overloaded), { times: 1 });
    await description().fill('Buy bread');
    const told = page()
      .getByText('not sent yet')
      .waitFor()
      .then(
        () => true,
        () => false,
      );
    await save().click();
    await shows(page(), 'Saved.');
    await page().close();
    expect(await told).toBe(false);
    expect(await stored()).toEqual(['Buy bread']);
  });
});

/** Toggles a todo in the list. The service does it; its answer is on its way, until the function that this returns loses it. */
async function toggleWithoutAnswer() {
  await store('Buy milk');
  await page().goto('/todos');
  await page().getByRole('checkbox').waitFor();
  let lose!: () => void;
  const lost = new Promise<void>((resolve) => (lose = resolve));
  const arrived = new Promise<void>((resolve) => {
    void page().route('**/api/todos', async (route) => {
      await route.fetch();
      resolve();
      await lost;
      await route.abort();
    });
  });
  await page().getByRole('checkbox').click();
  await arrived;
  return lose;
}

describe('A toggle', () => {
  test('shows at once, before the service has answered', async () => {
    await store('Buy milk');
    await page().goto('/todos');
    await page().getByRole('checkbox').waitFor();
    const release = await hold(page(), 'PUT');
    await page().getByRole('checkbox').check();
    await page().getByRole('link', { name: 'Done 1' }).waitFor();
    expect(await stored()).toEqual(['Buy milk']);
    release();
    await settles(stored, ['✓ Buy milk']);
    expect(await page().getByRole('checkbox').isChecked()).toBe(true);
  });

  test('that fails stays as it is wanted, is said to be unsent, and is sent again', async () => {
    await store('Buy milk', '✓ Buy bread');
    await page().goto('/todos');
    await page().getByRole('checkbox').first().waitFor();
    const mend = await breakDatabase();
    for (const [name, becomes] of [
      ['Buy milk', true],
      ['Buy bread', false],
    ] as const) {
      const row = page().getByRole('listitem').filter({ hasText: name });
      await row.getByRole('checkbox').click();
      await row.getByText('Not sent yet').waitFor();
      expect(await row.getByRole('checkbox').isChecked()).toBe(becomes);
    }
    await shows(page(), 'The server has a problem. 2 changes are not sent yet.');
    await page().getByText('Which?').click();
    await settles(() => page().locator('.banner li').allInnerTexts(), ['Done: Buy milk', 'Open again: Buy bread']);
    await mend();
    await settles(stored, ['✓ Buy milk', 'Buy bread']);
    await hides(page(), /not sent yet/i);
  });

  test('of the details too', async () => {
    await store('Buy milk');
    await page().goto('/todos/1');
    await page().getByRole('button', { name: 'Mark as done' }).waitFor();
    const mend = await breakDatabase();
    await page().getByRole('button', { name: 'Mark as done' }).click();
    await shows(page(), 'Not sent yet');
    await page().getByRole('button', { name: 'Open it again' }).waitFor();
    await mend();
    await settles(stored, ['✓ Buy milk']);
    await hides(page(), /not sent yet/i);
  });

  test('whose answer was lost is not done twice', async () => {
    const lose = await toggleWithoutAnswer();
    const methods: string[] = [];
    page().on('response', (response) => methods.push(`${response.request().method()} ${response.status()}`));
    lose();
    await shows(page(), '1 change is not sent yet.');
    await page().unrouteAll({ behavior: 'wait' });
    await hides(page(), 'not sent yet');
    // It was refused because it had arrived.
    expect(methods.slice(0, 2)).toEqual(['PUT 412', 'GET 200']);
    expect(await stored()).toEqual(['✓ Buy milk']);
    expect(await page().getByRole('checkbox').isChecked()).toBe(true);
  });

  test('whose answer was lost, and that was taken back meanwhile, is taken back', async () => {
    const lose = await toggleWithoutAnswer();
    await page().getByRole('checkbox').click();
    await settles(() => page().getByRole('checkbox').isChecked(), false);
    lose();
    await shows(page(), '2 changes are not sent yet.');
    await page().unrouteAll({ behavior: 'wait' });
    await hides(page(), 'not sent yet');
    expect(await stored()).toEqual(['Buy milk']);
    expect(await page().getByRole('checkbox').isChecked()).toBe(false);
  });

  describe('holds against an answer that was asked for before it, and comes after it:', () => {
    /** Keeps the next answer for an address. @returns when it is on its way, and what lets it arrive */
    async function keepNext(address: string) {
      let release!: () => void;
      const released = new Promise<void>((resolve) => (release = resolve));
      let isKept!: () => void;
      const kept = new Promise<void>((resolve) => (isKept = resolve));
      const keep = async (route: Route) => {
        const response = await route.fetch();
        isKept();
        await released;
        await route.fulfill({ response });
      };
      await page().route(address, keep, { times: 1 });
      const arrive = async () => {
        const late = page().waitForResponse(address);
        release();
        await late;
        await page().evaluate(() => new Promise(requestAnimationFrame));
      };
      return { kept, arrive };
    }

    test('that of the todo', async () => {
      await store('Buy milk');
      await page().goto('/todos');
      await page().getByRole('checkbox').waitFor();
      const { kept, arrive } = await keepNext('**/api/todos/1');
      await page().getByRole('link', { name: 'Buy milk', exact: true }).click();
      await kept;
      await page().getByRole('button', { name: 'Mark as done' }).click();
      await settles(stored, ['✓ Buy milk']);
      await page().getByRole('button', { name: 'Open it again' }).waitFor();
      await arrive();
      expect(await page().getByRole('button', { name: 'Open it again' }).count()).toBe(1);
    });

    test('that of the list', async () => {
      await store('Buy milk');
      await page().goto('/todos');
      await page().getByRole('checkbox').waitFor();
      const { kept, arrive } = await keepNext('**/api/todos');
      await page().getByRole('link', { name: 'Todos', exact: true }).click();
      await kept;
      await page().goBack();
      await page().getByRole('checkbox').click();
      await settles(stored, ['✓ Buy milk']);
      await page().getByRole('link', { name: 'Done 1' }).waitFor();
      await arrive();
      expect(await page().getByRole('checkbox').isChecked()).toBe(true);
    });
  });

  test('and an edit of the same todo are saved one after the other, and neither is lost', async () => {
    await store('Buy milk');
    await page().goto('/todos');
    await page().getByRole('checkbox').waitFor();
    const release = await hold(page(), 'PUT');
    await page().getByRole('checkbox').click();
    await page().getByRole('link', { name: 'Edit: Buy milk' }).click();
    await page().getByRole('checkbox', { name: 'Done' }).and(page().locator(':checked')).waitFor();
    await description().fill('Buy oat milk');
    await save().click();
    release();
    await settles(rows, ['Buy oat milk']);
    await settles(stored, ['✓ Buy oat milk']);
  });
});

describe('The server answering 500', () => {
  test.each([
    ['/', 'Your todos could not be counted.', 'text=1 open'],
    ['/todos', 'Your todos could not be loaded.', 'li >> text=Buy milk'],
    ['/todos/1', 'Todo 1 could not be loaded.', 'h1:text("Buy milk")'],
    ['/todos/edit/1', 'Todo 1 could not be loaded.', 'textarea'],
  ])('at %s is told, with a way to try again that works once it has recovered', async (path, sentence, content) => {
    await store('Buy milk');
    const mend = await breakDatabase();
    await page().goto(path);
    await shows(page(), `${sentence} The server has a problem.`);
    const failedAgain = page().waitForResponse((response) => response.status() === 500);
    await page().getByRole('button', { name: 'Try again' }).click();
    await failedAgain;
    await page().getByRole('button', { name: 'Try again' }).waitFor();
    await mend();
    await page().getByRole('button', { name: 'Try again' }).click();
    await page().locator(content).waitFor();
    await hides(page(), sentence);
    await page()
      .locator(path === '/todos/edit/1' ? 'textarea:focus' : 'h1:focus')
      .waitFor();
  });

  test('leaves on the list what was shown before', async () => {
    await store('Buy milk');
    await page().goto('/todos');
    await settles(rows, ['Buy milk']);
    await page().getByRole('link', { name: 'Buy milk', exact: true }).click();
    await shows(page(), 'Mark as done');
    const mend = await breakDatabase();
    await page().getByRole('link', { name: 'All todos' }).first().click();
    await shows(page(), 'Your todos could not be brought up to date.');
    expect(await rows()).toEqual(['Buy milk']);
    await mend();
  });
});

describe('Offline', () => {
  test('pages go on with what they have, and load by themselves when the network is back', async () => {
    await store('Buy milk');
    await page().goto('/todos');
    await settles(rows, ['Buy milk']);
    await goOffline();
    await page().getByRole('link', { name: 'Buy milk', exact: true }).click();
    await shows(page(), 'Todo 1 could not be brought up to date. You are offline.');
    await page().getByRole('heading', { name: 'Buy milk' }).waitFor();
    await page().context().setOffline(false);
    await hides(page(), 'could not be brought up to date');
  });
});

describe('Answers that make no sense', () => {
  test.each([
    ['a page', { status: 400, contentType: 'text/html', body: '<h1>Bad request</h1>' }],
    ['an empty answer', { status: 400, body: '' }],
    ['another object', { status: 400, contentType: 'application/json', body: '{}' }],
    ['an empty success', { status: 200, body: '' }],
  ])('to a save are told as a problem of the server: %s', async (_name, answer) => {
    await page().goto('/todos/new');
    await page().route('**/api/todos', (route) => route.fulfill(answer));
    await description().fill('Buy milk');
    await save().click();
    await shows(page(), 'The server has a problem. 1 change is not sent yet.');
    await page().unrouteAll({ behavior: 'wait' });
    await settles(stored, ['Buy milk']);
    await hides(page(), 'not sent yet');
  });

  test.each([
    ['a page of a proxy', { status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }],
    ['a page with status 200', { status: 200, contentType: 'text/html', body: '<h1>Log in</h1>' }],
    ['half of a list', { status: 200, contentType: 'application/json', body: '[{"id":1,' }],
    ['an empty answer', { status: 503, body: '' }],
    ['an object', { status: 200, contentType: 'application/json', body: '{}' }],
    ['nothing', { status: 200, contentType: 'application/json', body: 'null' }],
  ])('are told as a problem of the server: %s', async (_name, answer) => {
    await page().route('**/api/todos', (route) => route.fulfill(answer));
    await page().goto('/todos');
    await shows(page(), 'Your todos could not be loaded. The server has a problem.');
  });
});
