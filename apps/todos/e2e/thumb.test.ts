import { expect, test } from '@jest/globals';
import { phone, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

// A phone: fingers, no mouse, no keyboard.
const ui = useService({ viewport: phone, hasTouch: true, isMobile: true });
const { page, open, stored, rows, checkbox, button, link, storeMany, focused, editInPlace } = ui;

const text = (name: string) => page().locator('.todos .text').getByText(name, { exact: true });

test('What is touched is 44 pixels high and wide, and keys are not told', async () => {
  await open('/todos', 'Buy milk', '✓ Rest', 'Read https://example.org/a');
  await checkbox('Rest').waitFor();
  for (const path of ['/todos', '/', '/todos/1', '/todos/edit/1', '/todos/new', '/todos/99', '/todos?q=zebra']) {
    await page().goto(path);
    if (path === '/todos') {
      await checkbox('Buy milk').click();
      await shows(page(), '“Buy milk” is done.');
      await button('Select').click();
    }
    await page().locator('footer').waitFor();
    const small = await page()
      .locator('button, a, label, summary')
      .evaluateAll((all) =>
        all.flatMap((each) => {
          const { width, height } = each.getBoundingClientRect();
          const isInText = each.matches('p > a, .text a, .skip, form > label');
          return width === 0 || isInText || (width >= 43.9 && height >= 43.9) ? [] : [each.outerHTML, width, height];
        }),
      );
    expect([path, small]).toEqual([path, []]);
    expect(await button('Keyboard shortcuts').isVisible()).toBe(false);
  }
});

test('The way to a new todo stays in reach, and a notice is a row without scrollbar', async () => {
  await storeMany(500);
  await open('/todos');
  // The browser finds every one of some hundreds.
  await settles(() => page().locator('.todos li').count(), 500);
  await page().evaluate(() => scrollTo(0, 2_000));
  await link('New todo').click({ trial: true });
  await checkbox('Todo number 470').click();
  await shows(page(), '“Todo number 470” is done.');
  const notices = page().locator('.notices');
  expect((await notices.boundingBox())!.height).toBeLessThan(70);
  const scrolling = (box: Element) => [box.scrollHeight - box.clientHeight, getComputedStyle(box).overflow];
  expect(await notices.evaluate(scrolling)).toEqual([0, 'visible']);
  expect(await page().evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
});

test('A long press begins to select, a tap selects; what can be done is one row', async () => {
  await open('/todos', 'Buy milk', '✓ Rest', 'Sweep');
  const { x, y } = (await text('Buy milk').boundingBox())!;
  const devtools = await page().context().newCDPSession(page());
  const touchPoints = [{ x: x + 5, y: y + 5 }];
  await devtools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
  await shows(page(), '1 selected');
  await devtools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await text('Rest').tap();
  await shows(page(), '2 selected');
  await page().getByRole('checkbox', { name: 'Select: Rest, done', checked: true }).waitFor();
  expect((await page().locator('.selection').boundingBox())!.height).toBeLessThan(70);
  await axeFindsNothing(page());
  await button('Mark as done').tap();
  await settles(stored, ['✓ Buy milk', '✓ Rest', 'Sweep']);
});

test('A text is edited where it stands: Enter saves it, Escape keeps what was typed', async () => {
  await open('/todos', 'Buy milk', 'Rest', 'שלום');
  expect(await text('שלום').evaluate((each) => getComputedStyle(each).direction)).toBe('rtl');
  await editInPlace('Buy milk', 'Buy oat milk', 'Escape');
  await settles(rows, ['שלום', 'Rest', 'Buy milk']);
  expect(await focused()).toBe('Done: Buy milk');
  await text('Buy milk').click();
  expect(await page().locator('.todos textarea').inputValue()).toBe('Buy oat milk');
  await axeFindsNothing(page());
  await ui.press('Enter');
  await shows(page(), '“Buy milk” is “Buy oat milk” now.');
  await settles(stored, ['Buy oat milk', 'Rest', 'שלום']);
  await editInPlace('Rest', 'x'.repeat(256));
  await shows(page(), 'This is too long: 255 characters fit.');
  expect(await page().locator('.todos textarea').getAttribute('aria-invalid')).toBe('true');
  await page().locator('.todos textarea').fill('Sleep');
  await checkbox('Buy oat milk').click();
  await settles(stored, ['✓ Buy oat milk', 'Sleep', 'שלום']);
});

test('What is done folds, which the browser remembers; a search looks into it', async () => {
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
