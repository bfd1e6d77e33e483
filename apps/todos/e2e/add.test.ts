import { describe, expect, test } from '@jest/globals';
import { hides, paste, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const { page, open, proxy, stored, field, rows, button, add, press, focused } = useService();

describe('The field above the list', () => {
  test('adds a todo at each Enter, keeps the focus, and does not wait for the service', async () => {
    await open('/todos');
    const release = proxy().hold('POST');
    await add('Buy milk', 'Buy bread', '  Rest ', '   ');
    await button('Saving…').waitFor();
    expect([await focused(), await field().inputValue()]).toEqual(['New todo', '   ']);
    release();
    await settles(stored, ['Buy milk', 'Buy bread', 'Rest']);
    await settles(rows, ['Rest', 'Buy bread', 'Buy milk']);
    await button('Add').waitFor();
  });

  test('says how many characters are left in a long text, and keeps one that is too long', async () => {
    await open('/todos');
    await field().fill('x'.repeat(199));
    expect(await page().getByText('characters left').count()).toBe(0);
    await field().fill('x'.repeat(205));
    await shows(page(), '50 characters left');
    await add('😀'.repeat(256));
    await shows(page(), 'This is too long: 255 characters fit.');
    await axeFindsNothing(page());
    await field().fill('😀'.repeat(255));
    await hides(page(), 'too long');
    await press('Enter');
    await settles(stored, ['😀'.repeat(255)]);
  });

  test('keeps what is half typed through a reload', async () => {
    await open('/todos');
    await field().fill('Buy mi');
    await page().reload();
    await settles(() => field().inputValue(), 'Buy mi');
    await field().press('End');
    await field().pressSequentially('lk');
    await press('Enter');
    await settles(stored, ['Buy milk']);
    await page().reload();
    await settles(rows, ['Buy milk']);
    expect(await field().inputValue()).toBe('');
  });

  test('says so when the list does not show what was added', async () => {
    await open('/todos?show=done', '✓ Buy milk');
    await add('Buy bread');
    await shows(page(), '“Buy bread” is saved, but not among those that are listed here.');
    expect(await rows()).toEqual(['Buy milk']);
  });
});

describe('Several lines pasted', () => {
  test('become several todos after a question; one that is too long stays in the field', async () => {
    await open('/todos');
    await field().click();
    await paste(page(), `Buy milk\r\n\n  Buy bread\n${'x'.repeat(300)}\n\tRest\n`);
    await page().getByRole('dialog', { name: 'Make 3 todos of 4 lines?' }).getByText('1 of the lines').waitFor();
    await axeFindsNothing(page());
    expect(await stored()).toEqual([]);
    await press('Enter');
    await settles(stored, ['Buy milk', 'Buy bread', 'Rest']);
    await settles(rows, ['Rest', 'Buy bread', 'Buy milk']);
    expect([await focused(), await field().inputValue()]).toEqual(['New todo', 'x'.repeat(300)]);
  });

  test('become one line if that is wanted, or nothing', async () => {
    await open('/todos');
    await field().fill('Buy:');
    await field().press('End');
    await paste(page(), ' milk\nbread');
    await press('Escape');
    await page().getByRole('dialog').waitFor({ state: 'detached' });
    expect([await focused(), await field().inputValue()]).toEqual(['New todo', 'Buy:']);
    await paste(page(), ' milk\nbread');
    await button('Paste as one line').click();
    await settles(() => field().inputValue(), 'Buy:milk bread');
    await press('Enter');
    await settles(stored, ['Buy:milk bread']);
  });
});
