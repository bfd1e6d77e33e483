import { beforeEach, expect, test } from '@jest/globals';
import { isLoaded, phone, settles, useService } from '../test/browser.ts';

const { page, open, service, storeMany, checkbox, link, searchField, focused, scrollDown } = useService();

const row = (name: string) => link(`Details: ${name}`);
const listed = () => page().getByRole('listitem').count();
const scrolledBy = () => page().evaluate(() => scrollY);

/** Chromium may lose a key that is pressed before the list, which is in the document already, has been drawn. */
async function pressOnceDrawn(key: string) {
  await page().evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await page().keyboard.press(key);
}

/** What is in the document has nothing to do with how long the list is. */
const FEW_ROWS = 60;

beforeEach(() => storeMany(10_000, 5_000));

test('Of 10,000 todos only those near the window are in the document, and each says which it is', async () => {
  await open('/todos');
  await row('Todo number 10000').waitFor();
  expect(await listed()).toBeLessThan(FEW_ROWS);
  await pressOnceDrawn('End');
  await row('Todo number 1').waitFor();
  expect(await listed()).toBeLessThan(FEW_ROWS);
  const last = page().locator('[aria-posinset="5000"][aria-setsize="5000"]');
  await last.filter({ has: row('Todo number 1') }).waitFor();
  await page().keyboard.press('Home');
  await row('Todo number 10000').waitFor();
  await page().mouse.move(600, 400);
  for (let turn = 0; turn < 30; turn += 1) {
    await page().mouse.wheel(0, 900);
    expect(await listed()).toBeLessThan(FEW_ROWS);
  }
  await settles(
    () =>
      page().evaluate(() => {
        const inTheMiddle = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
        return inTheMiddle?.closest('li') !== null;
      }),
    true,
  );
});

test('Search finds one of 10,000, and a toggle changes just that one', async () => {
  await open('/todos');
  await searchField().fill('t');
  await page().getByText('10,000 todos are listed').waitFor({ state: 'attached' });
  await searchField().fill('777 number');
  await page().getByText('19 todos are listed').waitFor({ state: 'attached' });
  await searchField().fill('number 4321');
  await settles(listed, 1);
  await checkbox('Todo number 4321').uncheck();
  await settles(
    async () => (await service().db.selectFrom('todo').select('id').where('isCompleted', '=', 0).execute()).length,
    5001,
  );
  const changed = service().db.selectFrom('todo').select('isCompleted').where('description', '=', 'Todo number 4321');
  expect(await changed.executeTakeFirst()).toEqual({ isCompleted: 0 });
  await page().getByRole('link', { name: 'Open 5,001' }).waitFor();
});

test('The list scrolls on after a row has been clicked, which keeps the focus: Tab goes on from there', async () => {
  await open('/todos');
  await checkbox('Todo number 9998').click();
  await page().mouse.move(600, 400);
  const places: number[] = [];
  for (let turn = 0; turn < 8; turn += 1) {
    const before = await scrolledBy();
    await page().mouse.wheel(0, 900);
    await settles(async () => (await scrolledBy()) > before, true);
    places.push(await scrolledBy());
  }
  expect(places).toEqual([...places].sort((a, b) => a - b));
  await settles(() => row('Todo number 9990').count(), 0);
  expect(await focused()).toBe('Done: Todo number 9998');
  // Past the details.
  for (let stop = 0; stop < 2; stop += 1) await page().keyboard.press('Tab');
  expect(await focused()).toBe('Done: Todo number 9997');
});

test('Tab walks on through rows that were not in the document before', async () => {
  await open('/todos');
  await checkbox('Todo number 10000').focus();
  // Two stops in each row.
  for (let stop = 0; stop < 2 * (FEW_ROWS + 10); stop += 1) await page().keyboard.press('Tab');
  expect(await focused()).toBe('Done: Todo number 9930');
});

test.each(['back', 'reload'])('%s shows the part of the list that was left', async (way) => {
  await page().setViewportSize(phone);
  await open('/todos');
  await row('Todo number 10000').waitFor();
  await scrollDown(200_000);
  if (way === 'reload') await page().reload();
  else {
    await page().getByRole('listitem').nth(20).getByRole('link').first().click();
    await page().getByRole('button', { name: 'Mark as done' }).waitFor();
    expect(await scrolledBy()).toBe(0);
    await page().goBack();
  }
  await isLoaded(page());
  await settles(scrolledBy, 200_000);
  await page().getByRole('listitem').first().waitFor();
});
