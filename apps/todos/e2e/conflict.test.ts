import { expect, test } from '@jest/globals';
import { settles, shows, useService } from '../test/browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, proxy, service, setOffline, store, stored, change, rows } = ui;
const { description, button, checkbox, heading, save } = ui;

const version = (name: string) => page().getByRole('radio', { name });

/** Opens the form for “Buy milk” and types into it, while another client changes the todo. */
async function typeMeanwhile() {
  await open('/todos/edit/1', 'Buy milk');
  await description().fill('Buy oat milk');
  await change(1, 'Buy bread', 1);
}

test('Of two texts of one todo one must be chosen, by keyboard alone or not', async () => {
  await typeMeanwhile();
  await button('Save').click();
  await page().getByRole('group', { name: 'This todo has been changed meanwhile. Which one is to stay?' }).waitFor();
  await axeFindsNothing(page());
  await version('Yours, done Buy oat milk').waitFor();
  await version('Stored now, done Buy bread').waitFor();
  await page().locator('[type=radio]:focus').waitFor();
  await button('Save').click();
  await page().getByRole('alert').filter({ hasText: 'Choose one of them first.' }).waitFor();
  await page().locator('[type=radio]:focus').waitFor();
  await axeFindsNothing(page());
  expect(await description().inputValue()).toBe('Buy oat milk');
  await page().keyboard.press('ArrowDown');
  await settles(() => description().inputValue(), 'Buy bread');
  expect(await checkbox('Done').isChecked()).toBe(true);
  await page().keyboard.press('ArrowUp');
  await settles(() => description().inputValue(), 'Buy oat milk');
  await change(1, 'Buy cheese');
  await button('Save').click();
  await version('Stored now, open Buy cheese').waitFor();
  await version('Yours, open Buy oat milk').waitFor();
  expect([await version('Yours').isChecked(), await stored()]).toEqual([false, ['Buy cheese']]);
  await version('Stored now').check();
  await description().press('Enter');
  await heading('Buy cheese').waitFor();
  expect(await stored()).toEqual(['Buy cheese']);
});

test('Two texts of one todo are kept through reloads, switched and edited', async () => {
  await typeMeanwhile();
  await page().reload();
  await shows(page(), 'What you typed here before has been kept.');
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

test('Edits of the same text, or of different fields, are saved without a question', async () => {
  await open('/todos/edit/1', 'Buy milk', 'Rest', 'Sleep');
  await description().fill('Buy oat milk');
  await change(1, 'Buy milk', 1);
  await page().reload();
  await shows(page(), 'What you typed here before has been kept.');
  expect(await checkbox('Done').isChecked()).toBe(true);
  await change(1, 'Buy milk');
  await button('Save').click();
  await settles(stored, ['Buy oat milk', 'Rest', 'Sleep']);
  await page().goto('/todos/edit/2');
  await checkbox('Done').check();
  await change(2, 'Sweep');
  await button('Save').click();
  await settles(stored, ['Buy oat milk', '✓ Sweep', 'Sleep']);
  await page().goto('/todos/edit/3');
  await description().fill('Sleep well');
  await change(3, 'Sleep well');
  await button('Save').click();
  await heading('Sleep well').waitFor();
});

test('A todo that was deleted can be saved as a new one, also after a reload', async () => {
  await open('/todos/edit/1', 'Buy milk');
  await checkbox('Done').check();
  await service().db.deleteFrom('todo').execute();
  await save('Buy oat milk');
  await shows(page(), 'This todo is no longer there. What you have typed is still here');
  await axeFindsNothing(page());
  expect([await description().inputValue(), await stored()]).toEqual(['Buy oat milk', []]);
  await page().reload();
  await shows(page(), 'This todo is no longer there.');
  expect(await description().inputValue()).toBe('Buy oat milk');
  await button('Save as new').click();
  await settles(stored, ['✓ Buy oat milk']);
  await heading('All todos').waitFor();
});

test('A tick of an older list overwrites nothing, also offline, on a kept one', async () => {
  await open('/todos', 'Buy milk', 'Rest');
  await change(1, 'Buy oat milk');
  await checkbox('Buy milk').check();
  await settles(stored, ['✓ Buy oat milk', 'Rest']);
  await settles(rows, ['Rest', 'Buy oat milk']);
  await page().reload();
  await setOffline(true);
  await page().reload();
  await checkbox('Rest').check();
  await shows(page(), '1 change is not sent yet.');
  await change(2, 'Sleep');
  await setOffline(false);
  await settles(stored, ['✓ Buy oat milk', '✓ Sleep']);
  await settles(() => proxy.statuses('PUT'), [412, 200, 412, 200]);
  for (const { method, ifMatch } of proxy.seen) if (method === 'PUT') expect(ifMatch).toMatch(/^"[\w-]{27}"/);
});

test('Over a text left half typed or refused, the list edits none: the form asks', async () => {
  await open('/todos', 'Buy milk');
  await ui.editInPlace('Buy milk', 'Buy oat milk', 'Escape');
  await change(1, 'Buy bread');
  await ui.lookAgain();
  await page().locator('.todos .text').getByText('Buy bread').click();
  await version('Yours, open Buy oat milk').waitFor();
  await version('Yours').check();
  await save('Buy \0 milk');
  await shows(page(), 'There is a character that cannot be stored.');
  await page().goto('/todos');
  await page().locator('.todos .text').click();
  await settles(() => description().inputValue(), 'Buy \0 milk');
});

test.each([
  ['W/"…"', (tag: string) => `W/${tag}`],
  ['"…-gzip"', (tag: string) => tag.replace(/"$/, '-gzip"')],
  ['another one', () => '"of-a-proxy"'],
])('Behind a proxy that makes tags %s, a save ends saved, and overwrites nothing', async (_name, changed) => {
  await store('Buy milk');
  proxy.fault = () => ({
    headers: ({ etag, ...headers }) => ({ ...headers, ...(etag ? { etag: changed(etag) } : {}) }),
  });
  await open('/todos/edit/1');
  await change(1, 'Buy milk', 1);
  await save('Buy oat milk');
  await shows(page(), 'Saved.');
  expect(await stored()).toEqual(['✓ Buy oat milk']);
});

test('Where each tag is refused, a save ends with a message', async () => {
  await open('/todos/edit/1', 'Buy milk');
  const answer = { status: 412, headers: { 'content-type': 'application/json' }, body: '{"message":"Changed"}' };
  proxy.fault = ({ method }) => (method === 'PUT' ? { answer } : undefined);
  await save('Buy oat milk');
  await shows(page(), 'The server does not take it for the latest version, though it is. 1 change is not sent yet.');
  expect(await stored()).toEqual(['Buy milk']);
});
