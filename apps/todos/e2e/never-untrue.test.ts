import { describe, expect, test } from '@jest/globals';
import { desktop, hides, isLoaded, paste, settles, shows, useService } from '../test/browser.ts';
import { setAhead, translate } from './odd-browser.ts';
import { axeFindsNothing } from './axe.ts';

const ui = useService();
const { page, open, proxy, setOffline, store, stored, change, rows, checkbox, description, field } = ui;
const { filters, button, link, heading, add, breakDatabase } = ui;

describe('What is said of a conflict', () => {
  test('is what is stored, also after two texts of one’s own; a choice is asked for once', async () => {
    await open('/todos/edit/1', 'Buy milk');
    await setOffline(true);
    for (const text of ['Buy oat milk', 'Buy soy milk']) {
      await page().goto('/todos/edit/1');
      await description().fill(text);
      await button('Save').click();
      await heading(text).waitFor();
    }
    await change(1, 'Buy rye bread');
    await setOffline(false);
    await shows(page(), '“Buy soy milk” is not saved. It has been changed meanwhile.');
    await link('Open the form').click();
    await page().getByRole('radio', { name: 'Stored now, open Buy rye bread' }).waitFor();
    await page().getByRole('radio', { name: 'Yours, open Buy soy milk' }).check();
    await button('Save').click();
    await heading('Buy soy milk').waitFor();
    expect(await stored()).toEqual(['Buy soy milk']);
  });

  test('never calls stored what waits', async () => {
    await open('/todos/edit/1', 'Buy milk');
    await description().fill('Buy oat milk');
    await change(1, 'Buy rye bread');
    await page().goto('/todos');
    const release = proxy().hold('PUT');
    await checkbox('Buy rye bread').check();
    await page().goto('/todos/edit/1');
    await page().getByRole('radio', { name: 'Now, not sent yet, done Buy rye bread' }).waitFor();
    release();
    await page().getByRole('radio', { name: 'Stored now, done Buy rye bread' }).waitFor();
  });

  test('takes back the notice of an undo that is refused', async () => {
    await open('/todos/1', 'Buy milk');
    await link('Edit').click();
    await description().fill('Buy oat milk');
    await button('Save').click();
    await shows(page(), 'Saved.');
    await change(1, 'Buy rye bread');
    await button('Undo').click();
    await shows(page(), '“Buy milk” is not saved.');
    await hides(page(), 'Undone');
  });
});

describe('A clock', () => {
  test('that was fast hides nothing that others write', async () => {
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
  ])('%s decides that a todo was sent a day ago, which a person is asked about', async (_name, here, there) => {
    await open('/todos');
    proxy().fault = ({ method }) => (method === 'POST' ? { lose: 'response' } : undefined);
    await add('Buy milk');
    await settles(stored, ['Buy milk']);
    await setAhead(page(), here);
    proxy().fault = ({ method }) =>
      method === 'POST'
        ? { before: page().waitForTimeout(0) }
        : { headers: (sent) => ({ ...sent, date: new Date(Date.now() + there * 3_600_000).toUTCString() }) };
    await page().reload();
    const asked = '“Buy milk” is not saved. It was sent a day ago, without a response: it may be in the list.';
    await shows(page(), asked);
    expect(await stored()).toEqual(['Buy milk']);
    await link('Open the form').click();
    await shows(page(), 'This may have been saved already.');
    proxy().fault = undefined;
    await button('Save').click();
    await settles(stored, ['Buy milk', 'Buy milk']);
    await hides(page(), 'is not saved');
  });
});

test('“You are offline” goes when the browser is online, however slow the service is', async () => {
  await open('/todos');
  await setOffline(true);
  await add('Buy milk');
  await shows(page(), 'You are offline.');
  const release = proxy().hold('POST');
  await setOffline(false);
  await hides(page(), 'You are offline.');
  release();
  await settles(stored, ['Buy milk']);
});

test('While the list can’t be loaded, what this page knows stands below the message', async () => {
  const mend = await breakDatabase();
  await page().goto('/todos');
  await shows(page(), 'Your todos could not be loaded.');
  await add('Buy milk');
  await settles(rows, [expect.stringContaining('Buy milk')]);
  expect(await filters()).toEqual(['All', 'Open', 'Done']);
  await axeFindsNothing(page());
  await mend();
  await settles(stored, ['Buy milk']);
});

test('A screen reader hears a tick once, without buttons; that it is not saved waits a second', async () => {
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
  await checkbox('Rest').check();
  await settles(stored, ['Buy milk', '✓ Rest']);
  const release = proxy().hold('PUT');
  await checkbox('Buy milk').check();
  await shows(page(), '“Buy milk” is done. Not saved yet.');
  release();
  await hides(page(), 'Not saved yet.');
  expect(await heard()).toEqual(['“Rest” is done.', '“Buy milk” is done.', 'Not saved yet.']);
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

test('Refused todos are one calm line, with their number and the reason in words for people', async () => {
  await page().setViewportSize(desktop);
  await open('/todos');
  await field().focus();
  await paste(page(), Array.from({ length: 8 }, (_, n) => `Number \0 ${n}`).join('\n'));
  await button('Add 8 todos').click();
  const line = page().getByRole('status').filter({ hasText: '8 changes are not saved.' });
  await line.getByText('It has a character that cannot be stored.').waitFor();
  expect((await line.boundingBox())!.height).toBeLessThan(150);
  await page().getByText('Which?').click();
  await axeFindsNothing(page());
  await button('Discard').first().click();
  await shows(page(), '7 changes are not saved.');
  await isLoaded(page());
  expect(await stored()).toEqual([]);
  await store();
});
