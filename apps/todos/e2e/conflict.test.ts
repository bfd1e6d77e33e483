import { describe, expect, test } from '@jest/globals';
import { settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, service, stored, change, description, button, checkbox, heading } = ui;

const version = (name: string) => page().getByRole('radio', { name });

/** Opens the form for “Buy milk” and types into it, while another client changes the todo. */
async function typeMeanwhile() {
  await open('/todos/edit/1', 'Buy milk');
  await description().fill('Buy oat milk');
  await change(1, 'Buy bread', 1);
}

/** Saves the form after another client's change. Both versions are shown then. */
async function meetConflict() {
  await typeMeanwhile();
  await button('Save').click();
  await shows(page(), 'This todo has been changed meanwhile. Which one is to stay?');
}

describe('A todo that another client changes while it is edited', () => {
  test('is left as it is; both texts are shown, and one must be chosen: that of the other stays', async () => {
    await meetConflict();
    await axeFindsNothing(page());
    await page().getByRole('group', { name: 'This todo has been changed meanwhile.' }).waitFor();
    await version('Yours, done Buy oat milk').waitFor();
    await version('Stored now, done Buy bread').waitFor();
    await page().locator('[type=radio]:focus').waitFor();
    await button('Save').click();
    await page().getByRole('alert').filter({ hasText: 'Choose one of them first.' }).waitFor();
    await page().locator('[type=radio]:focus').waitFor();
    await axeFindsNothing(page());
    expect(await description().inputValue()).toBe('Buy oat milk');
    await version('Stored now').check();
    expect(await description().inputValue()).toBe('Buy bread');
    expect(await checkbox('Done').isChecked()).toBe(true);
    await button('Save').click();
    await heading('Buy bread').waitFor();
    expect(await stored()).toEqual(['✓ Buy bread']);
  });

  test('becomes what was typed when that is chosen, by keyboard alone', async () => {
    await meetConflict();
    await page().locator('[type=radio]:focus').waitFor();
    await page().keyboard.press('ArrowDown');
    await settles(() => description().inputValue(), 'Buy bread');
    await page().keyboard.press('ArrowUp');
    await settles(() => description().inputValue(), 'Buy oat milk');
    await checkbox('Done').uncheck();
    await description().press('Enter');
    await heading('Buy oat milk').waitFor();
    expect(await stored()).toEqual(['Buy oat milk']);
  });

  test('keeps both texts while the user switches, edits them and reloads', async () => {
    await meetConflict();
    await version('Stored now').check();
    await description().fill('Buy bread and butter');
    await version('Yours').check();
    expect(await description().inputValue()).toBe('Buy oat milk');
    await description().fill('Buy oat milk and butter');
    await version('Stored now').check();
    expect(await description().inputValue()).toBe('Buy bread and butter');
    await page().reload();
    await version('Yours, done Buy oat milk and butter').waitFor();
    expect(await version('Stored now').isChecked()).toBe(true);
    expect(await description().inputValue()).toBe('Buy bread and butter');
    await button('Save').click();
    await settles(stored, ['✓ Buy bread and butter']);
  });

  test('shows both texts again when it is changed once more before the choice is saved', async () => {
    await meetConflict();
    await version('Yours').check();
    await change(1, 'Buy cheese');
    await button('Save').click();
    await version('Stored now, open Buy cheese').waitFor();
    await version('Yours, open Buy oat milk').waitFor();
    expect(await version('Yours').isChecked()).toBe(false);
    expect(await stored()).toEqual(['Buy cheese']);
  });

  test('is not overwritten by a text that was kept over a reload either', async () => {
    await typeMeanwhile();
    await page().reload();
    await shows(page(), 'What you typed here before has been kept.');
    await version('Yours').check();
    await button('Save').click();
    await settles(stored, ['✓ Buy oat milk']);
  });

  test('is saved without a question when both have written the same', async () => {
    await open('/todos/edit/1', 'Buy milk');
    await description().fill('Buy oat milk');
    await change(1, 'Buy oat milk');
    await button('Save').click();
    await heading('Buy oat milk').waitFor();
  });

  test('is saved with both changes when one has changed just whether it is done', async () => {
    await open('/todos/edit/1', 'Buy milk', 'Rest');
    await description().fill('Buy oat milk');
    await change(1, 'Buy milk', 1);
    await page().reload();
    await shows(page(), 'What you typed here before has been kept.');
    expect(await checkbox('Done').isChecked()).toBe(true);
    await change(1, 'Buy milk');
    await button('Save').click();
    await settles(stored, ['Buy oat milk', 'Rest']);
    await page().goto('/todos/edit/2');
    await checkbox('Done').check();
    await change(2, 'Sweep');
    await button('Save').click();
    await settles(stored, ['Buy oat milk', '✓ Sweep']);
  });
});

test.each(['at once', 'after a reload'])('A todo that was deleted can be saved as a new one, %s', async (when) => {
  await open('/todos/edit/1', 'Buy milk');
  await description().fill('Buy oat milk');
  await checkbox('Done').check();
  await service().db.deleteFrom('todo').execute();
  await button('Save').click();
  await shows(page(), 'This todo is no longer there. What you have typed is still here');
  await axeFindsNothing(page());
  expect(await stored()).toEqual([]);
  if (when === 'after a reload') {
    await page().reload();
    await shows(page(), 'This todo is no longer there.');
  }
  expect(await description().inputValue()).toBe('Buy oat milk');
  await button('Save as new').click();
  await settles(stored, ['✓ Buy oat milk']);
  await heading('All todos').waitFor();
});
