import { beforeEach, expect, test } from '@jest/globals';
import { isLoaded, phone, settles, useService } from '../test/browser.ts';

const { page, open, storeMany, checkbox, link, focused, scrollDown } = useService();

const row = (name: string) => link(`Details: ${name}`);
const listed = () => page().getByRole('listitem').count();
const scrolledBy = () => page().evaluate(() => scrollY);

/** What is in the document has nothing to do with how long the list is. */
const FEW_ROWS = 60;

beforeEach(() => storeMany(10_000, 5_000));

test('Of 10,000 todos those near the window are drawn; the focus is not lost', async () => {
  await open('/todos');
  await row('Todo number 10000').waitFor();
  expect(await listed()).toBeLessThan(FEW_ROWS);
  // Chromium may lose a key that is pressed before the list, which is in the document already, has been drawn.
  await page().evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await page().keyboard.press('End');
  await row('Todo number 1').waitFor();
  expect(await listed()).toBeLessThan(FEW_ROWS);
  const last = page().locator('[aria-posinset="5000"][aria-setsize="5000"]');
  await last.filter({ has: row('Todo number 1') }).waitFor();
  await page().keyboard.press('Home');
  await checkbox('Todo number 9998').click();
  await page().mouse.move(600, 400);
  for (let turn = 0; turn < 20; turn += 1) {
    const before = await scrolledBy();
    await page().mouse.wheel(0, 900);
    await settles(async () => (await scrolledBy()) > before, true);
    expect(await listed()).toBeLessThan(FEW_ROWS);
  }
  const isRowInTheMiddle = () =>
    page().evaluate(() => document.elementFromPoint(innerWidth / 2, innerHeight / 2)!.closest('li') !== null);
  await settles(isRowInTheMiddle, true);
  expect(await row('Todo number 9990').count()).toBe(0);
  expect(await focused()).toBe('Done: Todo number 9998');
  // Two stops in each row.
  for (let stop = 0; stop < 2 * (FEW_ROWS + 10); stop += 1) await page().keyboard.press('Tab');
  expect(await focused()).toBe('Done: Todo number 9928');
});

test('Back and reload show the part of the list that was left', async () => {
  await page().setViewportSize(phone);
  await open('/todos');
  await row('Todo number 10000').waitFor();
  await scrollDown(200_000);
  await page().reload();
  await isLoaded(page());
  await settles(scrolledBy, 200_000);
  await page().getByRole('listitem').nth(20).getByRole('link').first().click();
  await page().getByRole('button', { name: 'Mark as done' }).waitFor();
  expect(await scrolledBy()).toBe(0);
  await page().goBack();
  await isLoaded(page());
  await settles(scrolledBy, 200_000);
  await page().getByRole('listitem').first().waitFor();
});
