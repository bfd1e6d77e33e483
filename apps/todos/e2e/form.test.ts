import { describe, expect, test } from '@jest/globals';
import { hides, phone, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, proxy, store, stored, rows, description, button, link, heading, checkbox, breakDatabase } = ui;

const hasFocus = (selector: string) => page().locator(`${selector}:focus`).waitFor();

/** Saves a new todo. @returns what lets the request, which has left the page, reach the service */
async function saveSlowly() {
  await open('/todos/new');
  const release = proxy().hold('POST');
  await description().fill('Buy milk');
  await description().press('Enter');
  await button('Saving…').waitFor();
  return release;
}

describe('The form', () => {
  test('does not save a blank description, and says so beside the field', async () => {
    await open('/todos/new');
    for (const blank of ['', ' \n\t']) {
      await description().fill(blank);
      await button('Save').click();
      const error = page().locator('#description-error', { hasText: 'Write down what is to be done.' });
      await error.waitFor();
      expect(await description().getAttribute('aria-invalid')).toBe('true');
      expect(await description().getAttribute('aria-describedby')).toContain('description-error');
      await hasFocus('textarea');
      await description().fill('Buy milk');
      await error.waitFor({ state: 'hidden' });
    }
    expect(await stored()).toEqual([]);
  });

  test('counts code points while typing and takes 255 of them, of any plane', async () => {
    await open('/todos/new');
    await shows(page(), '0 of 255 characters');
    await description().fill('😀'.repeat(236));
    await shows(page(), '236 of 255 characters');
    await shows(page(), 'No more than 20 characters are left');
    await description().fill('😀'.repeat(256));
    await shows(page(), 'This is too long: 255 characters fit.');
    await button('Save').click();
    await hasFocus('textarea');
    await axeFindsNothing(page());
    expect(await stored()).toEqual([]);
    await description().fill('😀'.repeat(255));
    await hides(page(), 'too long');
    await button('Save').click();
    await settles(stored, ['😀'.repeat(255)]);
  });

  test('saves once on Enter, however often it is asked, and loses nothing that is typed meanwhile', async () => {
    const release = await saveSlowly();
    await axeFindsNothing(page());
    await button('Saving…').click({ force: true });
    await description().press('Enter');
    await description().press('x');
    expect(await description().inputValue()).toBe('Buy milk');
    release();
    await shows(page(), 'Saved.');
    await settles(rows, ['Buy milk']);
    expect(await stored()).toEqual(['Buy milk']);
  });

  test('begins a new line with Shift and Enter', async () => {
    await open('/todos/new');
    await description().pressSequentially('Buy');
    await description().press('Shift+Enter');
    await description().pressSequentially('milk');
    await description().press('Enter');
    await settles(stored, ['Buy\nmilk']);
  });

  test('is followed by the beginning of the next page, however far it was scrolled', async () => {
    await store('Buy milk '.repeat(25));
    await page().setViewportSize({ width: 320, height: 200 });
    await open('/todos/edit/1');
    await description().fill('Buy bread '.repeat(25));
    await button('Save').scrollIntoViewIfNeeded();
    expect(await page().evaluate(() => scrollY)).toBeGreaterThan(0);
    await button('Save').click();
    await shows(page(), 'Mark as done');
    await settles(() => page().evaluate(() => scrollY), 0);
  });

  test('can be left while it saves: the page says what is not sent, and what is typed next stays', async () => {
    const release = await saveSlowly();
    const mend = await breakDatabase();
    await link('Todos').click();
    await link('New todo').first().click();
    expect(await description().inputValue()).toBe('');
    await description().fill('Buy bread');
    release();
    await shows(page(), 'The server has a problem. 1 change is not sent yet. This browser keeps it, and tries again.');
    await button('Try again').click();
    await settles(() => proxy().statuses('POST').slice(0, 2), [500, 500]);
    await mend();
    await settles(stored, ['Buy milk']);
    await hides(page(), 'not sent yet');
    expect(await description().inputValue()).toBe('Buy bread');
  });
});

describe('What was typed', () => {
  test('is not lost by a reload or by leaving the page, until it is discarded', async () => {
    await open('/todos/new');
    await description().fill('Buy bread');
    await page().reload();
    await shows(page(), 'What you typed here before has been kept.');
    await axeFindsNothing(page());
    expect(await description().inputValue()).toBe('Buy bread');
    await link('All todos').click();
    await link('New todo').click();
    expect(await description().inputValue()).toBe('Buy bread');
    await button('Discard it').click();
    expect(await description().inputValue()).toBe('');
    await hasFocus('textarea');
    await description().fill('Taken back');
    await description().fill('');
    await page().reload();
    await description().waitFor();
    expect(await description().inputValue()).toBe('');
    expect(await page().getByText('What you typed here before').count()).toBe(0);
  });

  test('is not kept where it was taken back', async () => {
    await open('/todos/edit/1', 'Buy milk');
    await description().fill('Buy');
    await description().fill('Buy milk');
    await page().reload();
    await description().waitFor();
    expect(await page().getByText('What you typed here before').count()).toBe(0);
  });
});

describe('A todo that was opened from the list leads back to it as it was', () => {
  test.each(['‹', 'Back', 'Save', 'Cancel', 'Escape', 'Save after a reload'])('by %s', async (way) => {
    await page().setViewportSize(phone);
    await open('/todos?show=open&q=number', ...Array.from({ length: 60 }, (_, n) => `Number ${n + 1}`), 'Other');
    await checkbox('Number 60').waitFor();
    await ui.scrollDown(1_500);
    const details = link('Details: Number 40');
    if (way === '‹' || way === 'Back') await details.click();
    else {
      await ui.openForm('Number 40');
      await hasFocus('textarea');
      if (way !== way.split(' ')[0]) await page().reload();
      await description().fill('Number forty');
      if (way === 'Escape') await page().keyboard.press('Escape');
      else if (way === 'Cancel') await link('Cancel').click();
      else await button('Save').click();
    }
    await button('Mark as done').waitFor();
    if (way === 'Back') await page().goBack();
    else await page().locator('main').getByRole('link', { name: 'All todos' }).click();
    await page().getByRole('link', { name: 'Open 61' }).waitFor();
    expect(page().url()).toMatch(/\/todos\?show=open&q=number$/);
    const name = way.startsWith('Save') ? 'Number forty' : 'Number 40';
    await page()
      .locator('a:focus')
      .and(link(`Details: ${name}`))
      .waitFor();
    await settles(() => page().evaluate(() => scrollY), 1_500);
    expect(await stored()).toContain(name);
  });
});

test('A tick and an edit of the same todo are saved one after the other, and neither is lost', async () => {
  await open('/todos', 'Buy milk');
  await checkbox('Buy milk').waitFor();
  const release = proxy().hold('PUT');
  await checkbox('Buy milk').click();
  await ui.openForm('Buy milk');
  await page().getByRole('checkbox', { name: 'Done', checked: true }).waitFor();
  await description().fill('Buy oat milk');
  await button('Save').click();
  release();
  await settles(stored, ['✓ Buy oat milk']);
});

describe('A notice', () => {
  test('that something is saved goes by itself, but not while it has the focus', async () => {
    await store('Buy milk');
    await page().clock.install();
    await open('/todos/edit/1');
    await button('Save').click();
    await shows(page(), 'Saved.');
    await button('Close').focus();
    await page().clock.fastForward(9_000);
    expect(await page().locator('.notice').count()).toBe(1);
    await heading('Buy milk').focus();
    await page().clock.fastForward(9_000);
    await hides(page(), 'Saved.');
  });

  test('goes by Escape, unless that was meant for a field', async () => {
    await open('/todos', 'Buy milk');
    await checkbox('Buy milk').click();
    await shows(page(), '“Buy milk” is done.');
    await ui.searchField().fill('milk');
    await ui.searchField().press('Escape');
    await settles(() => ui.searchField().inputValue(), '');
    expect(await page().locator('.notice').count()).toBe(1);
    await checkbox('Buy milk').press('Escape');
    await hides(page(), 'is done.');
  });
});
