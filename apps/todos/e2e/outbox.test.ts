import { expect, test } from '@jest/globals';
import { hides, paste, phone, settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, proxy, setOffline, stored, rows, link, checkbox, button, field, add } = ui;

test('A reload offline loses no adds, ticks and texts, also several of one todo', async () => {
  await page().setViewportSize(phone);
  await open('/todos', 'Buy milk', 'Rest');
  await page().reload();
  await setOffline(true);
  await add('Buy bread', 'Buy soap');
  await checkbox('Rest').check();
  await checkbox('Buy milk').check();
  await checkbox('Buy soap').check();
  await ui.editInPlace('Buy milk', 'Buy oat milk');
  await page().getByRole('status').filter({ hasText: '6 changes are not sent yet.' }).waitFor();
  // One calm line, however many they are.
  expect(await page().getByRole('alert').getByText(/./).count()).toBe(0);
  expect(await page().locator('.notice').count()).toBeLessThanOrEqual(1);
  await page().goto('/todos');
  await shows(page(), '6 changes are not sent yet. This browser keeps them until you are back online.');
  const marked = ['Buy bread', 'Buy soap', 'Rest', 'Buy oat milk'].map((text) => `${text}\nNot sent yet`);
  await settles(rows, marked);
  await page().getByText('Which?').click();
  const ofExisting = ['Done: Rest', 'Done: Buy milk', 'Done: Buy soap', 'Text: Buy oat milk'];
  const unsent = page().locator('.banner li');
  await settles(() => unsent.allInnerTexts(), ['New: Buy bread', 'New: Buy soap\nDiscard', ...ofExisting]);
  await axeFindsNothing(page());
  await setOffline(false);
  await settles(stored, ['✓ Buy oat milk', '✓ Rest', 'Buy bread', '✓ Buy soap']);
  await hides(page(), 'not sent yet');
  expect(proxy.count('POST')).toBe(2);
});

test('A reload right after pasting 600 lines keeps all, once and in their order', async () => {
  const lines = Array.from({ length: 600 }, (_, n) => (n % 10 === 0 ? `✓ Line ${n}` : `Line ${n}`));
  await open('/todos');
  const release = proxy.hold('POST', 5);
  await field().focus();
  await paste(page(), lines.join('\n').replaceAll('✓', '[x]'));
  await button('Add 600 todos').click();
  await page().reload();
  await settles(ui.filters, ['All 600', 'Open 540', 'Done 60']);
  release();
  // However slow it is, it goes on.
  for (let count = 5; count < 600; count = (await stored()).length)
    await settles(async () => (await stored()).length > count, true);
  await settles(stored, lines);
  await settles(async () => (await rows()).slice(0, 2), ['Line 599', 'Line 598']);
});

test('A lost response doubles no todo and no tick, however often they are sent', async () => {
  await open('/todos', 'Rest');
  proxy.fault = ({ method = '' }) => (method !== 'GET' && proxy.count(method) < 2 ? { lose: 'response' } : undefined);
  await add('Buy milk', 'Buy bread');
  await checkbox('Rest').check();
  await settles(stored, ['✓ Rest', 'Buy milk', 'Buy bread']);
  await hides(page(), 'not sent yet');
  const keys = proxy.seen.flatMap(({ key }) => key ?? []);
  expect(keys.length).toBeGreaterThan(2);
  expect(new Set(keys).size).toBe(2);
  expect(await stored()).toEqual(['✓ Rest', 'Buy milk', 'Buy bread']);
  expect(await checkbox('Rest').isChecked()).toBe(true);
});

test('Refused todos are one calm line with the reason, to discard or to mend', async () => {
  const reason = 'There is a character that cannot be stored.';
  await open('/todos');
  await field().focus();
  await paste(page(), Array.from({ length: 8 }, (_, n) => `Number \0 ${n}`).join('\n'));
  await button('Add 8 todos').click();
  const line = page().getByRole('status').filter({ hasText: '8 changes are not saved.' });
  await line.getByText(reason).waitFor();
  expect((await line.boundingBox())!.height).toBeLessThan(150);
  await page().reload();
  await page().getByText('Which?').click();
  await axeFindsNothing(page());
  await button('Discard').first().click();
  await shows(page(), '7 changes are not saved.');
  await ui.hasFocus('h1');
  expect(await stored()).toEqual([]);
  await link('Open the form').first().click();
  await settles(() => page().locator('#description-error').innerText(), reason);
  await ui.save('Number 1');
  await settles(stored, ['Number 1']);
  await shows(page(), '6 changes are not saved.');
});

test('Offline, a todo can be discarded; “You are offline” goes with the network', async () => {
  await open('/todos');
  await setOffline(true);
  await add('First', 'Second');
  await page().getByText('Which?').click();
  // The first may have been sent.
  await settles(() => button('Discard').count(), 1);
  await button('Discard').click();
  await shows(page(), 'You are offline. What is shown may be out of date. 1 change is not sent yet.');
  const release = proxy.hold('POST');
  await setOffline(false);
  await hides(page(), 'You are offline.');
  release();
  await settles(stored, ['First']);
  await hides(page(), 'not sent yet');
  expect(await stored()).toEqual(['First']);
});
