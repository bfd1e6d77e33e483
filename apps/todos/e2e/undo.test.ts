import { describe, expect, test } from '@jest/globals';
import { hides, hold, phone, settles, shows, useService } from '../test/browser.ts';

const { page, store, stored } = useService({ serviceWorkers: 'allow' });

const rows = () => page().getByRole('listitem').allInnerTexts();
const checkbox = (name: string) => page().getByRole('checkbox', { name });
const link = (name: string) => page().getByRole('link', { name, exact: true });
const button = (name: string) => page().getByRole('button', { name, exact: true });
const description = () => page().getByLabel('Description', { exact: true });
const undo = () => page().keyboard.press('ControlOrMeta+z');
const announced = (text: string) => page().getByRole('status').filter({ hasText: text }).waitFor();

describe('Undo', () => {
  test('takes several changes back, the last one first, and says each', async () => {
    await store('Alpha', 'Beta', 'Gamma');
    await page().goto('/todos');
    await checkbox('Alpha').check();
    await checkbox('Gamma').check();
    await settles(stored, ['✓ Alpha', 'Beta', '✓ Gamma']);
    await undo();
    await announced('Undone: “Gamma” is open again.');
    await settles(stored, ['✓ Alpha', 'Beta', 'Gamma']);
    await undo();
    await announced('Undone: “Alpha” is open again.');
    await settles(stored, ['Alpha', 'Beta', 'Gamma']);
    await undo();
    await announced('There is nothing to undo.');
  });

  test('names a change that is out of sight before it takes that back', async () => {
    await store('Alpha', 'Beta');
    await page().goto('/todos');
    await checkbox('Alpha').check();
    await shows(page(), '“Alpha” is done.');
    await page().getByRole('searchbox').fill('beta');
    await settles(rows, ['Beta']);
    await page().getByRole('status').getByRole('button', { name: 'Close' }).click();
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
    await store('Buy milk');
    await page().goto('/todos/1');
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
    await store('Alpha', 'Beta');
    await page().goto('/todos');
    await checkbox('Alpha').check();
    await settles(stored, ['✓ Alpha', 'Beta']);
    await link('Edit: Beta').click();
    await description().pressSequentially('!');
    await undo();
    await settles(() => description().inputValue(), 'Beta');
    await checkbox('Done').focus();
    await undo();
    await page().keyboard.press('Escape');
    await settles(rows, ['Beta', 'Alpha']);
    expect(await stored()).toEqual(['✓ Alpha', 'Beta']);
  });

  test('leaves what another has changed since', async () => {
    await store('Alpha');
    await page().goto('/todos');
    await checkbox('Alpha').check();
    await settles(stored, ['✓ Alpha']);
    await page().request.put('/api/todos', { data: { id: 1, description: 'Alpha more', isCompleted: 1 } });
    await undo();
    await settles(stored, ['Alpha more']);
  });

  test('says what is saved when it is: not before', async () => {
    await store('Buy milk');
    await page().goto('/todos');
    await checkbox('Buy milk').waitFor();
    const release = await hold(page(), 'PUT');
    await checkbox('Buy milk').check();
    await shows(page(), '“Buy milk” is done, not yet saved.');
    release();
    await shows(page(), '“Buy milk” is done.');
    expect(await stored()).toEqual(['✓ Buy milk']);
  });

  test('and its notice never cover the row that was changed', async () => {
    await page().setViewportSize(phone);
    await store(...Array.from({ length: 30 }, (_, n) => `Number ${n + 1}`));
    await page().goto('/todos');
    for (const place of ['last', 'first'] as const) {
      await checkbox('Number').first().waitFor();
      // The box that is nearest to the end of the window.
      const name = await page().evaluate((place) => {
        const boxes = [...document.querySelectorAll<HTMLInputElement>('.todos input')];
        const inSight = boxes.filter((box) => box.getBoundingClientRect().bottom < innerHeight);
        const box = inSight.at(place === 'last' ? -1 : 0)!;
        box.click();
        return box.ariaLabel!;
      }, place);
      const notice = page().locator('.notice').last();
      await notice.getByText(name.replace('Done: ', '')).waitFor();
      const [over, row] = await Promise.all([
        notice.boundingBox(),
        page()
          .getByRole('listitem')
          .filter({ has: page().getByRole('checkbox', { name, exact: true }) })
          .boundingBox(),
      ]);
      expect(over!.y >= row!.y + row!.height || over!.y + over!.height <= row!.y).toBe(true);
    }
  });
});

describe('Selecting', () => {
  const selected = (text: string) => page().getByRole('group', { name: 'Selected todos' }).getByText(text).waitFor();

  test('adds what a search finds to what was selected, and says how many are not seen', async () => {
    await store('Buy milk', 'Buy bread', 'Rest', 'Sweep');
    await page().goto('/todos');
    await button('Select').click();
    await checkbox('Select: Rest').click();
    await page().getByRole('searchbox').fill('buy');
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
    await store('Buy milk');
    await page().goto('/todos');
    await button('Select').click();
    await checkbox('Select: Buy milk').click();
    if (way === 'Cancel') await button('Cancel').click();
    else await page().keyboard.press('Escape');
    await checkbox('Done: Buy milk').waitFor();
    await page().locator('button:focus').and(button('Select')).waitFor();
    expect(await stored()).toEqual(['Buy milk']);
  });
});

describe('A form that was opened from the list leads back to it as it was', () => {
  test.each(['Save', 'Cancel', 'Escape', 'Save after a reload'])('by %s', async (way) => {
    await page().setViewportSize(phone);
    await store(...Array.from({ length: 60 }, (_, n) => `Number ${n + 1}`), 'Other');
    await page().goto('/todos?show=open&q=number');
    await checkbox('Number 60').waitFor();
    await page().evaluate(() => scrollTo(0, 1_500));
    await settles(() => page().evaluate(() => (history.state as { scrollY?: number } | null)?.scrollY), 1_500);
    await link('Edit: Number 40').click();
    await page().locator('textarea:focus').waitFor();
    if (way === 'Save after a reload') {
      await page().reload();
      await description().waitFor();
    }
    await description().fill('Number forty');
    if (way === 'Escape') await page().keyboard.press('Escape');
    else if (way === 'Cancel') await link('Cancel').click();
    else await button('Save').click();
    await page().getByRole('link', { name: 'Open 61' }).waitFor();
    expect(page().url()).toMatch(/\/todos\?show=open&q=number$/);
    await settles(() => page().evaluate(() => scrollY), 1_500);
    const name = way.startsWith('Save') ? 'Edit: Number forty' : 'Edit: Number 40';
    if (way !== 'Save after a reload') await page().locator('a:focus').and(link(name)).waitFor();
    if (way !== 'Escape') return;
    await link(name).click();
    await shows(page(), 'What you typed here before has been kept.');
    expect(await description().inputValue()).toBe('Number forty');
  });
});

test('A ticked row leaves “Open” when one looks again', async () => {
  await store('Alpha', 'Beta');
  await page().goto('/todos?show=open');
  await checkbox('Alpha').check();
  await settles(stored, ['✓ Alpha', 'Beta']);
  expect(await rows()).toEqual(['Beta', 'Alpha']);
  await page().getByRole('link', { name: 'Open 1' }).click();
  await settles(rows, ['Beta']);
  await checkbox('Beta').check();
  await page().evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await shows(page(), 'There are no open todos.');
});
