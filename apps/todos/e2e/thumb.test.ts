import { afterEach, describe, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { hides, openWithWorker, paste, phone, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const {
  page,
  open,
  proxy,
  store,
  stored,
  rows,
  checkbox,
  button,
  link,
  field,
  storeMany,
  focused,
  press,
  editInPlace,
} = ui;

const text = (name: string) => page().locator('.todos .text').getByText(name, { exact: true });

/** A phone: fingers, no mouse, no keyboard. */
let thumb: BrowserContext | undefined;
afterEach(async () => {
  await thumb?.close();
  thumb = undefined;
});
async function openOnPhone(path: string, ...todos: string[]): Promise<Page> {
  await store(...todos);
  thumb = await page().context().browser()!.newContext({ viewport: phone, hasTouch: true, isMobile: true });
  const opened = await thumb.newPage();
  await openWithWorker(opened, proxy().url + path);
  return opened;
}

describe('On a phone', () => {
  test('everything that is touched is 44 pixels high and wide, and shortcuts of keys are not told', async () => {
    const opened = await openOnPhone('/todos', 'Buy milk', '✓ Rest', 'Read https://example.org/a');
    await opened.getByRole('checkbox').first().waitFor();
    for (const path of ['/todos', '/', '/todos/1', '/todos/edit/1', '/todos/new', '/todos/99', '/todos?q=zebra']) {
      await opened.goto(proxy().url + path);
      if (path === '/todos') {
        await opened.getByRole('checkbox', { name: 'Buy milk' }).click();
        await shows(opened, '“Buy milk” is done.');
        await opened.getByRole('button', { name: 'Select' }).click();
      }
      await opened.locator('footer').waitFor();
      const small = await opened.locator('button, a, label, summary').evaluateAll((all) =>
        all.flatMap((each) => {
          const { width, height } = each.getBoundingClientRect();
          const isInText = each.matches('p > a, bdi > a, .skip, form > label');
          return width === 0 || isInText || (width >= 43.9 && height >= 43.9) ? [] : [each.outerHTML, width, height];
        }),
      );
      expect([path, small]).toEqual([path, []]);
      expect(await opened.getByRole('button', { name: 'Keyboard shortcuts' }).isVisible()).toBe(false);
    }
  });

  test('the way to a new todo stays in reach, and a notice is one row without a scrollbar', async () => {
    const opened = await openOnPhone('/todos', ...Array.from({ length: 60 }, (_, n) => `Number ${n + 1}`));
    await opened.getByRole('checkbox').first().waitFor();
    await opened.evaluate(() => scrollTo(0, 2_000));
    await opened.getByRole('link', { name: 'New todo' }).click({ trial: true });
    await opened.getByRole('checkbox', { name: 'Number 30' }).click();
    await shows(opened, '“Number 30” is done.');
    const notices = opened.locator('.notices');
    expect((await notices.boundingBox())!.height).toBeLessThan(70);
    expect(
      await notices.evaluate((box) => [box.scrollHeight - box.clientHeight, getComputedStyle(box).overflow]),
    ).toEqual([0, 'visible']);
    expect(await opened.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });

  test('a long press begins to select, a tap on a row selects it, and all that can be done is one row', async () => {
    const opened = await openOnPhone('/todos', 'Buy milk', '✓ Rest', 'Sweep');
    const { x, y } = (await opened.locator('.todos .text').getByText('Buy milk').boundingBox())!;
    const devtools = await opened.context().newCDPSession(opened);
    const touch = (type: 'touchStart' | 'touchEnd') =>
      devtools.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: type === 'touchEnd' ? [] : [{ x: x + 5, y: y + 5 }],
      });
    await touch('touchStart');
    await shows(opened, '1 selected');
    await touch('touchEnd');
    await opened.getByText('Rest').tap();
    await shows(opened, '2 selected');
    await opened.getByRole('checkbox', { name: 'Select: Rest, done', checked: true }).waitFor();
    expect((await opened.locator('.selection').boundingBox())!.height).toBeLessThan(70);
    await axeFindsNothing(opened);
    await opened.getByRole('button', { name: 'Mark as done' }).tap();
    await settles(stored, ['✓ Buy milk', '✓ Rest', 'Sweep']);
  });
});

describe('In the list', () => {
  test('a text is edited where it stands: Enter saves it, Escape keeps what was typed', async () => {
    await open('/todos', 'Buy milk', 'Rest');
    await editInPlace('Buy milk', 'Buy oat milk', 'Escape');
    await settles(rows, ['Rest', 'Buy milk']);
    expect(await focused()).toBe('Done: Buy milk');
    await text('Buy milk').click();
    expect(await page().locator('.todos textarea').inputValue()).toBe('Buy oat milk');
    await axeFindsNothing(page());
    await press('Enter');
    await shows(page(), '“Buy milk” is “Buy oat milk” now.');
    await settles(stored, ['Buy oat milk', 'Rest']);
    await editInPlace('Rest', 'x'.repeat(256));
    expect(await page().locator('.todos textarea').getAttribute('aria-invalid')).toBe('true');
    await page().locator('.todos textarea').fill('Sleep');
    await checkbox('Buy oat milk').click();
    await settles(stored, ['✓ Buy oat milk', 'Sleep']);
  });

  test('a text can be selected, and a link opens', async () => {
    await open('/todos', 'Read http://localhost/page soon');
    const { x, y, width, height } = (await page().locator('.todos .text').boundingBox())!;
    await page().mouse.move(x + 1, y + height / 2);
    await page().mouse.down();
    await page().mouse.move(x + Math.min(width, 60), y + height / 2, { steps: 5 });
    await page().mouse.up();
    expect(await page().evaluate(() => getSelection()!.toString())).toMatch(/^Read/);
    expect(await page().locator('.todos textarea').count()).toBe(0);
    expect(await link('http://localhost/page').getAttribute('rel')).toBe('noopener noreferrer');
    await page().route('http://localhost/page', (route) => route.fulfill({ body: 'There', contentType: 'text/html' }));
    await link('http://localhost/page').click();
    await page().waitForURL('http://localhost/page');
  });

  test('what is done folds, which the browser remembers; a search looks into it', async () => {
    await open('/todos', 'Buy milk', '✓ Rest', '✓ Sweep');
    await button('Done (2)').click();
    await settles(rows, ['Buy milk']);
    await page().reload();
    await button('Done (2)').waitFor();
    await settles(rows, ['Buy milk']);
    await ui.searchField().fill('rest');
    await settles(rows, ['Rest']);
    await ui.searchField().fill('');
    await button('Done (2)').click();
    await settles(rows, ['Buy milk', 'Sweep', 'Rest']);
  });

  test('the browser finds every one of some hundreds', async () => {
    await storeMany(500);
    await open('/todos');
    await settles(() => page().locator('.todos li').count(), 500);
  });

  test('the first todo is waited for by the field, and nothing else', async () => {
    await open('/todos');
    await shows(page(), 'There are no todos yet.');
    expect([
      await focused(),
      await page()
        .locator('main')
        .getByRole('link', { name: /New|first/ })
        .count(),
    ]).toEqual(['New todo', 0]);
  });
});

test('Undo survives a reload', async () => {
  await open('/todos', 'Buy milk', 'Rest');
  await checkbox('Buy milk').check();
  await editInPlace('Rest', 'Sleep');
  await settles(stored, ['✓ Buy milk', 'Sleep']);
  await page().reload();
  await checkbox('Buy milk').waitFor();
  for (const expected of [
    ['✓ Buy milk', 'Rest'],
    ['Buy milk', 'Rest'],
  ]) {
    await page().locator('h1').press('ControlOrMeta+z');
    await settles(stored, expected);
  }
});

test('Pasted lists lose their marks, and what is ticked there is done', async () => {
  await open('/todos');
  await field().focus();
  await paste(page(), '- [ ] Buy milk\n- [x] Buy bread\n1. Rest\n• Sweep\n[X] Sleep\n2026 is near');
  await button('Add 6 todos').click();
  await settles(stored, ['Buy milk', '✓ Buy bread', 'Rest', 'Sweep', '✓ Sleep', '2026 is near']);
  await hides(page(), 'Not sent yet');
});

test('Printed, there is no footer, and nothing to press', async () => {
  await open('/todos', 'Buy milk', '✓ Rest');
  await page().emulateMedia({ media: 'print' });
  for (const name of ['footer', 'header', '.tools', '.more', 'form']) {
    expect([name, await page().locator(name).first().isVisible()]).toEqual([name, false]);
  }
  expect(await text('Rest').isVisible()).toBe(true);
});
