import { expect, test } from '@jest/globals';
import { settles, shows, useService } from './browser.ts';

// After the test, `useService` expects that the scripts of the pages have logged no error.
const { page, service, stored } = useService();

const rows = () => page().getByRole('listitem').allInnerTexts();
const link = (name: string) => page().getByRole('link', { name, exact: true });
const button = (name: string) => page().getByRole('button', { name });
const heading = (name: string) => page().getByRole('heading', { level: 1, name });

test('A user adds, edits, ticks and filters todos, and finds them after a reload', async () => {
  const elsewhere: string[] = [];
  const failed: string[] = [];
  page().on('request', (request) => {
    if (!request.url().startsWith(`${service().url}/`)) elsewhere.push(request.url());
  });
  page().on('response', (response) => {
    if (response.status() >= 400) failed.push(response.url());
  });

  await page().goto('/');
  await page().getByRole('main').getByRole('link', { name: 'New todo' }).click();
  await page().getByLabel('Description').fill('Buy milk');
  await button('Save').click();
  await shows(page(), 'Saved.');
  await page().getByLabel('New todo').fill('Pay the rent');
  await page().getByLabel('New todo').press('Enter');
  await settles(rows, ['Pay the rent', 'Buy milk']);
  await page().getByRole('checkbox', { name: 'Buy milk' }).check();
  await settles(stored, ['✓ Buy milk', 'Pay the rent']);

  await link('Buy milk').click();
  await heading('Buy milk').waitFor();
  await link('Edit').click();
  await settles(() => page().getByLabel('Description').inputValue(), 'Buy milk');
  await page().getByLabel('Description').fill('Buy bread');
  await page().getByRole('checkbox', { name: 'Done', checked: true }).uncheck();
  await button('Save').click();
  await heading('Buy bread').waitFor();
  expect(await stored()).toEqual(['Buy bread', 'Pay the rent']);
  await button('Mark as done').click();
  await settles(stored, ['✓ Buy bread', 'Pay the rent']);
  // Not back into a form that has been saved.
  await page().goBack();
  await heading('All todos').waitFor();
  await settles(rows, ['Pay the rent', 'Buy bread']);
  await page().getByRole('link', { name: 'Done 1' }).click();
  await settles(rows, ['Buy bread']);
  await page().reload();
  await page().getByRole('checkbox', { name: 'Buy bread', checked: true }).waitFor();
  expect(await rows()).toEqual(['Buy bread']);

  const response = await page().goto('/todos/2');
  expect(response!.status()).toBe(200);
  await heading('Pay the rent').waitFor();
  expect({ elsewhere, failed }).toEqual({ elsewhere: [], failed: [] });
});
