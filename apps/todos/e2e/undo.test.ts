import { describe, expect, test } from '@jest/globals';
import { hides, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, proxy, stored, change, rows, checkbox, link, button, description, focused } = ui;

const undo = () => page().keyboard.press('ControlOrMeta+z');
const announced = (text: string) => page().getByRole('status').filter({ hasText: text }).waitFor();

describe('Undo', () => {
  test('takes several changes back, the last one first, and says each', async () => {
    await open('/todos', 'Alpha', 'Beta', 'Gamma');
    await checkbox('Alpha').check();
    await checkbox('Beta').check();
    await checkbox('Gamma').check();
    await settles(stored, ['✓ Alpha', '✓ Beta', '✓ Gamma']);
    await undo();
    await announced('Undone: “Gamma” is open again.');
    await settles(stored, ['✓ Alpha', '✓ Beta', 'Gamma']);
    await undo();
    await announced('Undone: “Beta” is open again.');
    await undo();
    await announced('Undone: “Alpha” is open again.');
    await settles(stored, ['Alpha', 'Beta', 'Gamma']);
    await undo();
    await announced('There is nothing to undo.');
  });

  test('names a change that is out of sight before it takes that back', async () => {
    await open('/todos', 'Alpha', 'Beta');
    await checkbox('Alpha').check();
    await shows(page(), '“Alpha” is done.');
    await ui.searchField().fill('beta');
    await settles(rows, ['Beta']);
    await button('Close').click();
    await hides(page(), 'is done.');
    await page().locator('h1').focus();
    await undo();
    await announced('“Alpha” is done.');
    expect(await stored()).toEqual(['✓ Alpha', 'Beta']);
    await undo();
    await announced('Undone: “Alpha” is open again.');
    await settles(stored, ['Alpha', 'Beta']);
  });

  test('takes back what was changed on the details page, and a text', async () => {
    await open('/todos/1', 'Buy milk');
    await button('Mark as done').click();
    await shows(page(), '“Buy milk” is done.');
    await link('Edit').click();
    await description().fill('Buy bread');
    await button('Save').click();
    await shows(page(), 'Saved.');
    await settles(stored, ['✓ Buy bread']);
    await undo();
    await announced('Undone: “Buy bread” is “Buy milk” now.');
    await undo();
    await announced('Undone: “Buy milk” is open again.');
    await settles(stored, ['Buy milk']);
  });

  test('belongs to the form where there is one', async () => {
    await open('/todos', 'Alpha', 'Beta');
    await checkbox('Alpha').check();
    await settles(stored, ['✓ Alpha', 'Beta']);
    await ui.openForm('Beta');
    await description().pressSequentially('!');
    await undo();
    await settles(() => description().inputValue(), 'Beta');
    await checkbox('Done').focus();
    await undo();
    await page().keyboard.press('Escape');
    await link('All todos').first().click();
    await settles(rows, ['Beta', 'Alpha']);
    expect(await stored()).toEqual(['✓ Alpha', 'Beta']);
  });

  test.each([false, true])('leaves what another has changed since, shown here: %s', async (isShown) => {
    await open('/todos', 'Alpha');
    await checkbox('Alpha').check();
    await settles(stored, ['✓ Alpha']);
    await change(1, 'Alpha more', 1);
    if (isShown) {
      await ui.lookAgain();
      await checkbox('Alpha more').waitFor();
    }
    await undo();
    await settles(stored, ['Alpha more']);
  });

  test('is offered by a notice that says what is saved when it is, also before', async () => {
    await open('/todos', 'Alpha', 'Beta');
    await checkbox('Alpha').waitFor();
    const release = proxy().hold('PUT');
    await checkbox('Beta').check();
    await shows(page(), '“Beta” is done. Not saved yet.');
    await axeFindsNothing(page());
    await button('Undo').click();
    expect([await checkbox('Beta').isChecked(), await focused()]).toEqual([false, 'Done: Beta']);
    await checkbox('Alpha').check();
    await shows(page(), '“Alpha” is done. Not saved yet.');
    expect(await stored()).toEqual(['Alpha', 'Beta']);
    release();
    await announced('“Alpha” is done.');
    await settles(stored, ['✓ Alpha', 'Beta']);
  });
});

describe('Selecting', () => {
  const selected = (text: string) => page().getByRole('group', { name: 'Selected todos' }).getByText(text).waitFor();

  test('ticks several together, everything between two by Shift, and that is undone', async () => {
    await open('/todos', 'One', 'Two', '✓ Three', 'Four', 'Five');
    await button('Select').click();
    await checkbox('Select: Five').click();
    await checkbox('Select: Two').click({ modifiers: ['Shift'] });
    await checkbox('Select: Three').click();
    await selected('4 selected');
    await axeFindsNothing(page());
    await button('Mark as done').click();
    await settles(stored, ['One', '✓ Two', '✓ Three', '✓ Four', '✓ Five']);
    await shows(page(), '3 todos are done.');
    expect(await focused()).toBe('Select');
    await settles(rows, ['Five', 'Four', 'Two', 'One', 'Three']);
    await button('Undo').click();
    await settles(stored, ['One', 'Two', '✓ Three', 'Four', 'Five']);
  });

  test('adds what a search finds to what was selected, and says how many are not seen', async () => {
    await open('/todos', 'Buy milk', 'Buy bread', 'Rest', 'Sweep');
    await button('Select').click();
    await checkbox('Select: Rest').click();
    await ui.searchField().fill('buy');
    await settles(rows, ['Buy bread', 'Buy milk']);
    await selected('1 selected, 1 of them not listed here');
    await button('All').click();
    await selected('3 selected, 1 of them not listed here');
    await button('All').click();
    await selected('1 selected, 1 of them not listed here');
    await button('All').click();
    await button('Mark as done').click();
    await settles(stored, ['✓ Buy milk', '✓ Buy bread', '✓ Rest', 'Sweep']);
  });

  test.each(['Cancel', 'Escape'])('is left by %s, and nothing is changed', async (way) => {
    await open('/todos', 'Buy milk');
    await button('Select').click();
    await checkbox('Select: Buy milk').click();
    if (way === 'Cancel') await button('Cancel').click();
    else await page().keyboard.press('Escape');
    await checkbox('Done: Buy milk').waitFor();
    await page().locator('button:focus').and(button('Select')).waitFor();
    expect(await stored()).toEqual(['Buy milk']);
  });
});
