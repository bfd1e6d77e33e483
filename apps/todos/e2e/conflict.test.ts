import { describe, expect, test } from '@jest/globals';
import { hold, settles, shows, useService } from '../test/browser.ts';

const { page, service, store, stored } = useService();

const description = () => page().getByLabel('Description', { exact: true });
const save = () => page().getByRole('button', { name: 'Save' });
const version = (name: 'Yours' | 'Stored now') => page().getByRole('radio', { name });

const changeByAnother = (description: string, isCompleted: 0 | 1 = 0) =>
  service().db.updateTable('todo').set({ description, isCompleted }).where('id', '=', 1).execute();

const deleteByAnother = () => service().db.deleteFrom('todo').execute();

/** Opens the form for “Buy milk” and types into it, while another client changes the todo. */
async function typeMeanwhile() {
  await store('Buy milk');
  await page().goto('/todos/edit/1');
  await description().fill('Buy oat milk');
  await changeByAnother('Buy bread', 1);
}

/** Saves the form after another client's change. Both versions are shown then. */
async function meetConflict() {
  await typeMeanwhile();
  await save().click();
  await shows(page(), 'This todo has been changed meanwhile. Which one is to stay?');
}

describe('A todo that another client changes while it is edited', () => {
  test('is left as it is; both texts are shown, each with whether it is done', async () => {
    await meetConflict();
    await page().getByRole('group', { name: 'This todo has been changed meanwhile.' }).waitFor();
    await page().getByRole('radio', { name: 'Yours, done Buy oat milk' }).waitFor();
    await page().getByRole('radio', { name: 'Stored now, done Buy bread' }).waitFor();
    await page().locator('[type=radio]:focus').waitFor();
    expect(await description().inputValue()).toBe('Buy oat milk');
    expect(await stored()).toEqual(['✓ Buy bread']);
  });

  test('becomes what was typed when that is chosen', async () => {
    await meetConflict();
    await page().getByRole('checkbox', { name: 'Done' }).uncheck();
    await version('Yours').check();
    await save().click();
    await page().getByRole('heading', { name: 'Buy oat milk' }).waitFor();
    expect(await stored()).toEqual(['Buy oat milk']);
  });

  test('stays as the other has left it when that is chosen', async () => {
    await meetConflict();
    await version('Stored now').check();
    expect(await description().inputValue()).toBe('Buy bread');
    expect(await page().getByRole('checkbox', { name: 'Done' }).isChecked()).toBe(true);
    await save().click();
    await page().getByRole('heading', { name: 'Buy bread' }).waitFor();
    expect(await stored()).toEqual(['✓ Buy bread']);
  });

  test('is not saved before one is chosen, which is said', async () => {
    await meetConflict();
    await save().click();
    await page().getByRole('alert').filter({ hasText: 'Choose one of them first.' }).waitFor();
    await page().locator('[type=radio]:focus').waitFor();
    expect(await stored()).toEqual(['✓ Buy bread']);
    await page().keyboard.press('Space');
    await description().press('Enter');
    await settles(stored, ['✓ Buy oat milk']);
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
    await page().getByRole('radio', { name: 'Yours, done Buy oat milk and butter' }).waitFor();
    expect(await version('Stored now').isChecked()).toBe(true);
    expect(await description().inputValue()).toBe('Buy bread and butter');
    await save().click();
    await settles(stored, ['✓ Buy bread and butter']);
  });

  test('shows both texts again when it is changed once more before the choice is saved', async () => {
    await meetConflict();
    await version('Yours').check();
    await changeByAnother('Buy cheese');
    await save().click();
    await page().getByRole('radio', { name: 'Stored now, open Buy cheese' }).waitFor();
    await page().getByRole('radio', { name: 'Yours, open Buy oat milk' }).waitFor();
    expect(await version('Yours').isChecked()).toBe(false);
    expect(await stored()).toEqual(['Buy cheese']);
  });

  test('is not overwritten by a text that was kept over a reload either', async () => {
    await typeMeanwhile();
    await page().reload();
    await shows(page(), 'What you typed here before has been kept.');
    await version('Yours').check();
    await save().click();
    await settles(stored, ['✓ Buy oat milk']);
  });

  test('is told of when the form has been left, and shown when it is opened again', async () => {
    await typeMeanwhile();
    const release = await hold(page(), 'PUT');
    await save().click();
    await page().getByRole('link', { name: 'Todos', exact: true }).click();
    release();
    await shows(page(), '“Buy oat milk” is not saved. It has been changed meanwhile.');
    await page().reload();
    await page().getByRole('link', { name: 'Open the form' }).click();
    await page().getByRole('radio', { name: 'Yours, done Buy oat milk' }).waitFor();
    expect(await stored()).toEqual(['✓ Buy bread']);
  });

  test('is saved without a question when both have written the same', async () => {
    await store('Buy milk');
    await page().goto('/todos/edit/1');
    await description().fill('Buy oat milk');
    await changeByAnother('Buy oat milk');
    await save().click();
    await page().getByRole('heading', { name: 'Buy oat milk' }).waitFor();
  });

  test('is saved with both changes when the other has changed just whether it is done', async () => {
    await store('Buy milk');
    await page().goto('/todos/edit/1');
    await description().fill('Buy oat milk');
    await changeByAnother('Buy milk', 1);
    await page().reload();
    await shows(page(), 'What you typed here before has been kept.');
    expect(await page().getByRole('checkbox', { name: 'Done' }).isChecked()).toBe(true);
    await changeByAnother('Buy milk', 0);
    await save().click();
    await settles(stored, ['Buy oat milk']);
  });

  test('is saved with both changes when the other has changed just the description', async () => {
    await store('Buy milk');
    await page().goto('/todos/edit/1');
    await page().getByRole('checkbox', { name: 'Done' }).check();
    await changeByAnother('Buy rye bread');
    await save().click();
    await settles(stored, ['✓ Buy rye bread']);
  });

  test('can be chosen by keyboard alone', async () => {
    await meetConflict();
    await page().locator('[type=radio]:focus').waitFor();
    await page().keyboard.press('ArrowDown');
    await settles(() => description().inputValue(), 'Buy bread');
    await page().keyboard.press('ArrowUp');
    await settles(() => description().inputValue(), 'Buy oat milk');
    await page().keyboard.press('Enter');
    await settles(stored, ['✓ Buy oat milk']);
  });
});

describe('A todo that is deleted while it is edited', () => {
  test.each(['at once', 'after a reload'])('can be saved as a new one, %s', async (when) => {
    await store('Buy milk');
    await page().goto('/todos/edit/1');
    await description().fill('Buy oat milk');
    await page().getByRole('checkbox', { name: 'Done' }).check();
    await deleteByAnother();
    await save().click();
    await shows(page(), 'This todo is no longer there. What you have typed is still here');
    expect(await stored()).toEqual([]);
    if (when === 'after a reload') {
      await page().reload();
      await shows(page(), 'This todo is no longer there.');
    }
    expect(await description().inputValue()).toBe('Buy oat milk');
    await page().getByRole('button', { name: 'Save as new' }).click();
    await settles(stored, ['✓ Buy oat milk']);
    await page().getByRole('heading', { name: 'All todos' }).waitFor();
  });
});
