// Writes a picture of every page, on a phone and on a desktop, light and dark: npm run screenshots
import { join } from 'node:path';
import { test } from '@jest/globals';
import { desktop, isLoaded, phone, useService } from '../test/browser.ts';

const folder = join(import.meta.dirname, '..', '..', '..', '.github', 'screenshots');

const pages = {
  home: '/',
  list: '/todos',
  details: '/todos/7',
  new: '/todos/new',
  edit: '/todos/edit/7',
  'not-found': '/todos/99',
};

const { page, store } = useService();

test.each(Object.entries(pages))('%s', async (name, path) => {
  await store(
    '✓ Return the books',
    '✓ Mend the bicycle',
    'Water the plants on the balcony, but not the cactus: it had some last week and needs none before spring',
    'Pay the rent',
    '✓ Buy bread',
    'Call grandmother',
    'Find a present for Ada: she likes maps, puzzles and anything with a motor',
    'Buy milk',
  );
  for (const [device, viewport] of Object.entries({ phone, desktop })) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page().setViewportSize(viewport);
      await page().emulateMedia({ colorScheme });
      await page().goto(path);
      await isLoaded(page());
      await page().screenshot({ path: join(folder, `todos-${name}-${device}-${colorScheme}.png`) });
    }
  }
});
