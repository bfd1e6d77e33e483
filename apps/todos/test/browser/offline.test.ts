import { describe, expect, test } from '@jest/globals';
import { settles, shows, useService } from './harness.ts';

const { page, store } = useService({ serviceWorkers: 'allow' });

const rows = () => page().getByRole('listitem').allInnerTexts();

/** Opens a page and waits until the service worker could serve it offline. */
async function open(path: string) {
  await page().goto(path);
  await page().evaluate(async () => {
    const { active } = await navigator.serviceWorker.ready;
    if (active!.state !== 'activated') await new Promise((resolve) => active!.addEventListener('statechange', resolve));
  });
}

describe('Offline, the first page and what it has shown', () => {
  test('are there again after a reload', async () => {
    await store('Buy milk');
    await open('/todos');
    await page().context().setOffline(true);
    await page().reload();
    await settles(rows, ['Buy milk']);
    await shows(page(), 'You are offline. What is shown may be out of date');
  });
});
