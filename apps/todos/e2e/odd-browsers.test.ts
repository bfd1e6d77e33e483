import { describe, expect, test } from '@jest/globals';
import { hides, settles, shows, useService } from '../test/browser.ts';

const { page, setOffline, store, stored, change, checkbox, button, link, add } = useService();

describe('A browser', () => {
  test('without https neither hashes nor locks, and overwrites nothing either', async () => {
    await store('Buy milk', 'Rest');
    await page().addInitScript(() => {
      Object.defineProperty(crypto, 'subtle', { value: undefined });
      Object.defineProperty(navigator, 'locks', { value: undefined });
    });
    await page().goto('/todos');
    await checkbox('Buy milk').waitFor();
    await change(1, 'Buy oat milk');
    await checkbox('Buy milk').check();
    await checkbox('Rest').check();
    await add('Buy bread');
    await settles(stored, ['✓ Buy oat milk', '✓ Rest', 'Buy bread']);
  });

  test('that stores nothing says so while there is something to send', async () => {
    await page().addInitScript(() => {
      IDBFactory.prototype.open = () => {
        throw new DOMException('Not here', 'SecurityError');
      };
    });
    await page().goto('/todos');
    await add('Buy milk');
    await settles(stored, ['Buy milk']);
    await setOffline(true);
    await add('Buy bread');
    await shows(page(), '1 change is not sent yet. This browser stores nothing: leave the page open until then.');
    await setOffline(false);
    await settles(stored, ['Buy milk', 'Buy bread']);
    await hides(page(), 'stores nothing');
  });
});

test('A new todo that was sent a day ago is not sent again before a person says so', async () => {
  await page().clock.install();
  await page().goto('/todos');
  await shows(page(), 'There are no todos yet.');
  await setOffline(true);
  await add('Buy milk');
  await shows(page(), '1 change is not sent yet.');
  // The age counts from the first request, which the page repeats each minute.
  const repeated = page().waitForEvent('requestfailed', (request) => request.method() === 'POST');
  await page().clock.fastForward('12:00:00');
  await repeated;
  await page().clock.fastForward('12:00:00');
  await setOffline(false);
  await shows(page(), '“Buy milk” is not saved. It was sent a day ago, without a response: it may be in the list.');
  expect(await stored()).toEqual([]);
  await link('Open the form').click();
  await shows(page(), 'This may have been saved already.');
  await button('Save').click();
  await settles(stored, ['Buy milk']);
  await hides(page(), 'is not saved');
});
