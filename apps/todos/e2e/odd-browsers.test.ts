import { describe, expect, test } from '@jest/globals';
import { hides, settles, shows, useService } from '../test/browser.ts';

const { page, service, store, stored } = useService({ serviceWorkers: 'allow' });

const field = () => page().getByRole('textbox', { name: 'New todo' });
const change = (id: number, description: string) =>
  service().request('PUT', '/api/todos', { id, description, isCompleted: 0 });

async function add(text: string) {
  await field().fill(text);
  await field().press('Enter');
}

describe('A browser', () => {
  test('without https neither hashes nor locks, and overwrites nothing either', async () => {
    await store('Buy milk', 'Rest');
    await page().addInitScript(() => {
      Object.defineProperty(crypto, 'subtle', { value: undefined });
      Object.defineProperty(navigator, 'locks', { value: undefined });
    });
    await page().goto('/todos');
    await page().getByRole('checkbox', { name: 'Buy milk' }).waitFor();
    await change(1, 'Buy oat milk');
    await page().getByRole('checkbox', { name: 'Buy milk' }).check();
    await page().getByRole('checkbox', { name: 'Rest' }).check();
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
    await page().context().setOffline(true);
    await add('Buy bread');
    await shows(page(), '1 change is not sent yet. This browser stores nothing: leave the page open until then.');
    await page().context().setOffline(false);
    await settles(stored, ['Buy milk', 'Buy bread']);
    await hides(page(), 'stores nothing');
  });
});

test('A new todo that was sent a day ago is not sent again before a person says so', async () => {
  await page().clock.install();
  await page().goto('/todos');
  await shows(page(), 'There are no todos yet.');
  await page().context().setOffline(true);
  await add('Buy milk');
  await shows(page(), '1 change is not sent yet.');
  await page().clock.fastForward('24:00:00');
  await page().context().setOffline(false);
  await shows(page(), '“Buy milk” is not saved. It was sent a day ago, without a response: it may be in the list.');
  expect(await stored()).toEqual([]);
  await page().getByRole('link', { name: 'Open the form' }).click();
  await shows(page(), 'This may have been saved already.');
  await page().getByRole('button', { name: 'Save' }).click();
  await settles(stored, ['Buy milk']);
  await hides(page(), 'is not saved');
});
