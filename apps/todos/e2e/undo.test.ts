import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openWithWorker, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, proxy, storeMany, stored, change, rows, checkbox, link, button, description, focused } = ui;

const doneInDatabase = async () => (await stored()).filter((todo) => todo.startsWith('✓')).length;
const undo = () => page().keyboard.press('ControlOrMeta+z');
const announced = (text: string) => page().getByRole('status').filter({ hasText: text }).waitFor();

test('Undo takes back the last one first, and names one out of sight before that', async () => {
  await open('/todos', 'Alpha', 'Beta', 'Gamma');
  for (const name of ['Alpha', 'Beta', 'Gamma']) await checkbox(name).check();
  await settles(stored, ['✓ Alpha', '✓ Beta', '✓ Gamma']);
  // What another person has changed since stays, shown here or not.
  await change(2, 'Beta more', 1);
  await ui.lookAgain();
  await checkbox('Beta more').waitFor();
  await change(3, 'Gamma more', 1);
  await undo();
  await announced('Undone: “Gamma” is open again.');
  await settles(stored, ['✓ Alpha', '✓ Beta more', 'Gamma more']);
  await undo();
  await announced('Undone: “Beta more” is open again.');
  await settles(stored, ['✓ Alpha', 'Beta more', 'Gamma more']);
  await ui.searchField().fill('beta');
  await settles(rows, ['Beta more']);
  await page().locator('h1').focus();
  await undo();
  await announced('“Alpha” is done.');
  expect(await stored()).toEqual(['✓ Alpha', 'Beta more', 'Gamma more']);
  await undo();
  await announced('Undone: “Alpha” is open again.');
  await settles(stored, ['Alpha', 'Beta more', 'Gamma more']);
  await undo();
  await announced('There is nothing to undo.');
});

test('Undo takes back a tick of the details and a text, also after a reload', async () => {
  await open('/todos/1', 'Buy milk');
  await button('Mark as done').click();
  await shows(page(), '“Buy milk” is done.');
  await link('Edit').click();
  await ui.save('Buy bread');
  await shows(page(), 'Saved.');
  await settles(stored, ['✓ Buy bread']);
  await page().reload();
  await ui.heading('Buy bread').waitFor();
  await undo();
  await announced('Undone: “Buy bread” is “Buy milk” now.');
  await undo();
  await announced('Undone: “Buy milk” is open again.');
  await settles(stored, ['Buy milk']);
});

test('Undo belongs to the form where there is one', async () => {
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

const selected = (text: string) => page().getByRole('group', { name: 'Selected todos' }).getByText(text).waitFor();

test('Selecting is left by Cancel or Escape, and ticks all between two by Shift', async () => {
  await open('/todos', 'One', 'Two', '✓ Three', 'Four', 'Five');
  for (const leave of [() => button('Cancel').click(), () => page().keyboard.press('Escape')]) {
    await button('Select').click();
    await checkbox('Select: Five').click();
    await leave();
    await checkbox('Done: Five').waitFor();
    await page().locator('button:focus').and(button('Select')).waitFor();
    expect(await stored()).toEqual(['One', 'Two', '✓ Three', 'Four', 'Five']);
  }
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

test('Selecting adds what a search finds, and says how many are not seen', async () => {
  await open('/todos', 'Buy milk', 'Buy bread', 'Rest');
  const release = proxy.hold('POST');
  await ui.add('Sweep');
  await button('Select').click();
  await checkbox('Select: Sweep').click();
  release();
  await button('Add').waitFor();
  // It has an id of the service now.
  await settles(() => checkbox('Select: Sweep').isChecked(), true);
  await checkbox('Select: Sweep').click();
  await checkbox('Select: Rest').click();
  await ui.searchField().fill('buy');
  await settles(rows, ['Buy bread', 'Buy milk']);
  await selected('1 selected, 1 not listed');
  await button('All').click();
  await selected('3 selected, 1 not listed');
  await button('All').click();
  await selected('1 selected, 1 not listed');
  await button('All').click();
  await button('Mark as done').click();
  await settles(stored, ['✓ Buy milk', '✓ Buy bread', '✓ Rest', 'Sweep']);
});

/** Waits for a text for as long as ticks arrive, which hundreds do slowly on a busy machine. */
async function showsAfterTicks(text: string | RegExp): Promise<void> {
  const before = await doneInDatabase();
  await shows(page(), text).catch(async (reason: unknown) => {
    if ((await doneInDatabase()) === before) throw reason;
    await showsAfterTicks(text);
  });
}

/** Ticks all todos of the list. */
async function tickAll() {
  await button('Select').click();
  await button('All').click();
  await button('Mark as done').click();
}

/** Ticks 300 todos, of which 100 arrive until the function that this returns is called. */
async function tickSlowly() {
  await page().getByRole('checkbox').first().waitFor();
  proxy.seen.length = 0;
  const release = proxy.hold('PUT', 100);
  await tickAll();
  await showsAfterTicks('100 of 300 todos are done.');
  expect(await doneInDatabase()).toBe(100);
  return release;
}

test('Many ticks take one request each, are told when done, and can be stopped', async () => {
  await storeMany(300);
  await open('/todos');
  const release = await tickSlowly();
  const ended = /^300 todos are done\.$/;
  await page().getByRole('progressbar', { name: '100 of 300 todos are done' }).waitFor();
  expect(await page().getByText(ended).count()).toBe(0);
  release();
  await showsAfterTicks(ended);
  expect(await doneInDatabase()).toBe(300);
  expect(proxy.seen.filter(({ path }) => path !== '/api/todos')).toEqual([]);
  expect(proxy.count('PUT')).toBe(300);
  await button('Undo').click();
  await showsAfterTicks('Undone: 300 todos are open again.');
  expect(await doneInDatabase()).toBe(0);

  const releaseAgain = await tickSlowly();
  await button('Stop').click();
  releaseAgain();
  // Four were on their way; the other todos stay as they were.
  await shows(page(), '104 todos are done; 196 stay as they were.');
  expect(await doneInDatabase()).toBe(104);
  await page().getByRole('link', { name: 'Done 104' }).waitFor();
  await button('Undo').click();
  await settles(doneInDatabase, 0);
});

test('Many ticks go on after a reload, are counted when saved, and can be undone', async () => {
  await storeMany(300);
  await open('/todos');
  const release = await tickSlowly();
  const counts = ['All 300', 'Open 200', 'Done 100'];
  await settles(ui.filters, counts);
  // Where it takes so long that the page sends the held ones again, nothing here counts them.
  await axeFindsNothing(page());
  await page().goto('/');
  await shows(page(), '200 open');
  await shows(page(), '100 of 300 todos are done.');
  release();
  await showsAfterTicks(/^300 todos are done\.$/);
  expect(await doneInDatabase()).toBe(300);
  await shows(page(), '300 done');
  await page().reload();
  await shows(page(), '300 done');
  const releaseAgain = proxy.hold('PUT', 100);
  await undo();
  await shows(page(), /^300 todos are done\.$/);
  await undo();
  await showsAfterTicks('100 of 300 todos are open again.');
  await page().reload();
  await shows(page(), '100 of 300 todos are open again.');
  await undo();
  await announced('There is nothing to undo.');
  releaseAgain();
  await showsAfterTicks('Undone: 300 todos are open again.');
  expect(await doneInDatabase()).toBe(0);
});

test('Several bulks are one bar, which only the tab that sends them can stop', async () => {
  await open('/todos', 'Alpha 1', 'Alpha 2', 'Beta 1', 'Beta 2');
  proxy.hold('PUT');
  for (const text of ['Alpha', 'Beta']) {
    await ui.searchField().fill(text);
    await settles(rows, [`${text} 2`, `${text} 1`]);
    await tickAll();
  }
  const other = await page().context().newPage();
  await openWithWorker(other, `${proxy.url}/todos`);
  await shows(other, '0 of 2 todos are done.');
  const bars = (at: Page) => at.locator('.notice', { has: at.getByRole('progressbar') }).allInnerTexts();
  await settles(() => bars(page()), [expect.stringContaining('Stop')]);
  await settles(() => bars(other), [expect.not.stringContaining('Stop')]);
});

test('Many ticks leave the page quick: what one costs does not grow with the list', async () => {
  await storeMany(10_000);
  await open('/todos');
  await page().getByRole('searchbox').fill('99');
  await page().getByText('280 todos are listed').waitFor({ state: 'attached' });
  const devtools = await page().context().newCDPSession(page());
  await devtools.send('Performance.enable');
  const busy = async () =>
    (await devtools.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'ScriptDuration')!.value;
  const before = await busy();
  await tickAll();
  await showsAfterTicks(/^280 todos are done\.$/);
  const seconds = (await busy()) - before;
  // It takes about 2 ms on a busy machine, and took 23 on an idle one.
  expect((seconds * 1_000) / 280).toBeLessThan(15);
});
