// Writes the pictures of README.md: npm run screenshots
import { join } from 'node:path';
import { test } from '@jest/globals';
import { desktop, isLoaded, phone, useService } from '../test/browser.ts';

const folder = join(import.meta.dirname, '..', '..', '..', '.github', 'screenshots');

const { page, store } = useService();

test.each([
  ['todos-list-desktop-light', '/todos', desktop, 'light'],
  ['todos-home-phone-dark', '/', phone, 'dark'],
] as const)('%s', async (name, path, viewport, colorScheme) => {
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
  await page().setViewportSize(viewport);
  await page().emulateMedia({ colorScheme });
  await page().goto(path);
  await isLoaded(page());
  await page().screenshot({ path: join(folder, `${name}.png`) });
});
