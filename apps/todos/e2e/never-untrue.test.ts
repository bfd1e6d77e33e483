import { expect, test } from '@jest/globals';
import { hides, settles, shows, useService } from '../test/browser.ts';
import { setAhead, translate } from './odd-browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, proxy, setOffline, stored, change, rows, checkbox, save, filters } = ui;
const { button, link, heading, add } = ui;

test('A conflict says what is stored, holds up no tick, and asks once', async () => {
  await open('/todos/edit/1', 'Buy milk');
  await setOffline(true);
  for (const text of ['Buy oat milk', 'Buy soy milk']) {
    await page().goto('/todos/edit/1');
    await save(text);
    await heading(text).waitFor();
  }
  await button('Mark as done').click();
  await change(1, 'Buy rye bread');
  await setOffline(false);
  // The other field does not wait for a person.
  await settles(stored, ['✓ Buy rye bread']);
  await shows(page(), '“Buy soy milk” is not saved. Somebody else has changed the same.');
  await button('Open it again').click();
  await settles(stored, ['Buy rye bread']);
  await link('Open the form').click();
  await page().getByRole('radio', { name: 'Stored now, open Buy rye bread' }).waitFor();
  await page().getByRole('radio', { name: 'Yours, open Buy soy milk' }).check();
  await button('Save').click();
  await heading('Buy soy milk').waitFor();
  await hides(page(), 'is not saved');
  expect(await stored()).toEqual(['Buy soy milk']);
});

test('A conflict never calls stored what waits', async () => {
  await open('/todos/edit/1', 'Buy milk');
  await ui.description().fill('Buy oat milk');
  await change(1, 'Buy rye bread');
  await page().goto('/todos');
  const release = proxy.hold('PUT');
  await checkbox('Buy rye bread').check();
  await page().goto('/todos/edit/1');
  await page().getByRole('radio', { name: 'Now, not sent yet, done Buy rye bread' }).waitFor();
  release();
  await page().getByRole('radio', { name: 'Stored now, done Buy rye bread' }).waitFor();
});

test('The notice of an undo goes when that is refused', async () => {
  await open('/todos/1', 'Buy milk');
  await link('Edit').click();
  // Until the undo, the page hears nothing of the other change.
  const release = proxy.hold('GET');
  await save('Buy oat milk');
  await shows(page(), 'Saved.');
  await change(1, 'Buy rye bread');
  await button('Undo').click();
  release();
  await shows(page(), '“Buy milk” is not saved.');
  await hides(page(), 'Undone');
});

test('A text undone before it was sent gives way to another’s without a question', async () => {
  await open('/todos', 'Buy milk');
  await setOffline(true);
  await ui.editInPlace('Buy milk', 'Buy oat milk');
  await shows(page(), '“Buy milk” is “Buy oat milk” now.');
  await button('Undo').click();
  await shows(page(), 'Undone: “Buy oat milk” is “Buy milk” now.');
  // It does not go by itself then.
  await button('Close').focus();
  await change(1, 'Buy rye bread');
  await setOffline(false);
  // The service worker may be back online after the page.
  const looksAgain = async () => {
    await ui.lookAgain();
    return rows();
  };
  await settles(looksAgain, ['Buy rye bread']);
  await hides(page(), 'Undone');
  expect([await page().getByText('is not saved').count(), await stored()]).toEqual([0, ['Buy rye bread']]);
});

test('Nobody is told to be offline whom the service answers, whatever the browser believes', async () => {
  await page().addInitScript(() => Object.defineProperty(navigator, 'onLine', { value: false }));
  await open('/todos', 'Buy milk');
  await settles(rows, ['Buy milk']);
  await hides(page(), 'You are offline.');
  await checkbox('Buy milk').check();
  await settles(stored, ['✓ Buy milk']);
  await setOffline(true);
  await page().reload();
  await shows(page(), 'You are offline.');
});

test('A clock that was fast hides nothing that others write', async () => {
  await setAhead(page(), 1);
  await open('/todos', 'Buy milk');
  await checkbox('Buy milk').check();
  await settles(stored, ['✓ Buy milk']);
  await setAhead(page(), -1);
  await change(1, 'Buy oat milk');
  await page().reload();
  await settles(rows, ['Buy oat milk']);
  expect(await checkbox('Buy oat milk').isChecked()).toBe(false);
});

test.each([
  ['of the browser', 24, 0],
  ['of the browser, set back', -1, 0],
  ['of the service', 0, 24],
])('The clock %s decides that a todo was sent a day ago, which is asked about', async (_name, here, there) => {
  await open('/todos');
  proxy.fault = ({ method }) => (method === 'POST' ? { lose: 'response' } : undefined);
  await add('Buy milk');
  await settles(stored, ['Buy milk']);
  await setAhead(page(), here);
  const date = new Date(Date.now() + there * 3_600_000).toUTCString();
  proxy.fault = ({ method }) => (method === 'POST' ? { lose: 'request' } : { headers: (sent) => ({ ...sent, date }) });
  await page().reload();
  const asked = '“Buy milk” is not saved. It was sent earlier, without a response: it may be in the list.';
  await shows(page(), asked);
  expect(await stored()).toEqual(['Buy milk']);
  await link('Open the form').click();
  await shows(page(), 'This may have been saved already.');
  proxy.fault = undefined;
  await button('Save').click();
  await settles(stored, ['Buy milk', 'Buy milk']);
  await hides(page(), 'is not saved');
});

test('A screen reader hears a tick once, without buttons, and late that it waits', async () => {
  await page().clock.install();
  await open('/todos', 'Buy milk', 'Rest');
  await checkbox('Rest').waitFor();
  await page().evaluate(() => {
    const heard: string[] = Object.assign(globalThis, { heard: [] }).heard;
    for (const region of document.querySelectorAll('[role=status], [role=alert]'))
      new MutationObserver(() => region.textContent.trim() && heard.push(region.textContent.trim())).observe(region, {
        childList: true,
        subtree: true,
        characterData: true,
      });
  });
  const heard = () => page().evaluate(() => (globalThis as unknown as { heard: string[] }).heard);
  // It may take longer than a second to save the first.
  await page().clock.pauseAt(Date.now() + 10_000);
  await checkbox('Rest').check();
  await settles(stored, ['Buy milk', '✓ Rest']);
  const release = proxy.hold('PUT');
  await checkbox('Buy milk').check();
  await page().clock.runFor(1_500);
  await page().clock.resume();
  await shows(page(), '“Buy milk” is done. Not saved yet.');
  await settles(heard, ['“Rest” is done.', '“Buy milk” is done.', 'Not saved yet.']);
  await axeFindsNothing(page());
  await button('Undo').click();
  expect([await checkbox('Buy milk').isChecked(), await ui.focused()]).toEqual([false, 'Done: Buy milk']);
  expect(await stored()).toEqual(['Buy milk', '✓ Rest']);
  release();
  await hides(page(), 'Not saved yet.');
  await settles(() => proxy.statuses('PUT'), [200, 200, 200]);
  expect(await stored()).toEqual(['Buy milk', '✓ Rest']);
});

test('Translated by the browser, words still follow what they say', async () => {
  await translate(page(), true);
  await open('/todos', 'Buy milk');
  await settles(filters, ['ALL 1', 'OPEN 1', 'DONE 0']);
  await checkbox('Buy milk').check();
  await settles(filters, ['ALL 1', 'OPEN 0', 'DONE 1']);
  await shows(page(), '“Buy milk” IS DONE.');
  await link('DONE 1').click();
  await heading('DONE TODOS').waitFor();
  await link('ALL 1').click();
  await page().goto('/todos/1');
  await heading('Buy milk').waitFor();
  for (const words of ['OPEN IT AGAIN', 'MARK AS DONE', 'OPEN IT AGAIN']) await button(words).click();
  await setOffline(true);
  await shows(page(), 'YOU ARE OFFLINE.');
  await setOffline(false);
  await page().getByText('YOU ARE OFFLINE.').waitFor({ state: 'detached' });
  await page().goto('/');
  await shows(page(), '1 OPEN');
});
