import { expect, test } from '@jest/globals';
import { hides, phone, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, proxy, store, storeMany, stored, description, button, link, heading, checkbox } = ui;
const { breakDatabase, hasFocus } = ui;

test('The form says beside the field what is wrong; Shift and Enter begin a line', async () => {
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
  await ui.press('Shift+Enter', 'n', 'o', 'w', 'Enter');
  await settles(stored, ['Buy milk\nnow']);

  await page().goto('/todos/new');
  await shows(page(), '0 of 255 characters');
  await description().fill('😀'.repeat(236));
  await shows(page(), '236 of 255 characters');
  await shows(page(), 'No more than 20 characters are left');
  await description().fill('😀'.repeat(256));
  await shows(page(), 'This is too long: 255 characters fit.');
  await button('Save').click();
  await hasFocus('textarea');
  await axeFindsNothing(page());
  expect(await stored()).toEqual(['Buy milk\nnow']);
  await ui.save('😀'.repeat(255));
  await settles(stored, ['Buy milk\nnow', '😀'.repeat(255)]);
});

test('The form saves once, however often it is asked, and can be left while it does', async () => {
  await open('/todos/new');
  const release = proxy.hold('POST');
  await description().fill('Buy milk');
  await description().press('Enter');
  await button('Saving…').waitFor();
  await axeFindsNothing(page());
  await button('Saving…').click({ force: true });
  await description().press('Enter');
  await description().press('x');
  expect(await description().inputValue()).toBe('Buy milk');
  const mend = await breakDatabase();
  await link('Todos').click();
  await link('New todo').first().click();
  expect(await description().inputValue()).toBe('');
  await description().fill('Buy bread');
  release();
  await shows(page(), 'The server has a problem. 1 change is not sent yet. This browser keeps it, and tries again.');
  await button('Try again').click();
  await settles(() => proxy.statuses('POST').slice(0, 2), [500, 500]);
  await mend();
  await settles(stored, ['Buy milk']);
  await hides(page(), 'not sent yet');
  expect(await description().inputValue()).toBe('Buy bread');
});

test('What was typed survives a reload and leaving the page, until it is discarded', async () => {
  const kept = 'What you typed here before has been kept.';
  await open('/todos/new', 'Rest');
  await description().fill('Buy bread');
  await page().reload();
  await shows(page(), kept);
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
  expect([await description().inputValue(), await page().getByText(kept).count()]).toEqual(['', 0]);
});

const ways = ['‹', 'Back', 'Save', 'Cancel', 'Escape', 'Save after a reload'];
test.each(ways)('A todo that was opened from the list leads back to it as it was by %s', async (way) => {
  await page().setViewportSize(phone);
  await storeMany(60);
  await store('Other');
  await open('/todos?show=open&q=number');
  await checkbox('Todo number 60').waitFor();
  await ui.scrollDown(1_500);
  if (way === '‹' || way === 'Back') await link('Details: Todo number 40').click();
  else {
    await ui.openForm('Todo number 40');
    await hasFocus('textarea');
    if (way === 'Save after a reload') await page().reload();
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
  const name = way.startsWith('Save') ? 'Number forty' : 'Todo number 40';
  await hasFocus(`[aria-label="Details: ${name}"]`);
  await settles(() => page().evaluate(() => scrollY), 1_500);
  expect(await stored()).toContain(name);
});

test('A notice goes by itself unless it has the focus, and by Escape', async () => {
  const notices = () => page().locator('.notice').count();
  await store('Buy milk');
  await page().clock.install();
  await open('/todos/edit/1');
  await button('Save').click();
  await shows(page(), 'Saved.');
  await button('Close').focus();
  await page().clock.runFor(9_000);
  expect(await notices()).toBe(1);
  await heading('Buy milk').focus();
  await page().clock.runFor(9_000);
  await hides(page(), 'Saved.');

  await page().goto('/todos');
  await checkbox('Buy milk').click();
  await shows(page(), '“Buy milk” is done.');
  await ui.searchField().fill('milk');
  await ui.searchField().press('Escape');
  await settles(() => ui.searchField().inputValue(), '');
  expect(await notices()).toBe(1);
  await checkbox('Buy milk').press('Escape');
  await hides(page(), 'is done.');
});
