import { expect, test } from '@jest/globals';
import { settles, useService } from './browser.ts';

// After the test, `useService` expects that the scripts of the pages have logged no error.
const { page, open, proxy, stored, rows, link, button, heading, checkbox, description, add, openForm } = useService();

test('A user adds, edits and ticks todos, and finds them after a reload', async () => {
  const elsewhere: string[] = [];
  const failed: string[] = [];
  page().on('request', (request) => {
    if (!request.url().startsWith(`${proxy.url}/`)) elsewhere.push(request.url());
  });
  page().on('response', (response) => {
    if (response.status() >= 400) failed.push(`${response.request().method()} ${response.status()} ${response.url()}`);
  });

  await open('/todos');
  await page().locator('#add:focus').waitFor();
  await add('Buy milk', 'Pay the rent');
  await settles(rows, ['Pay the rent', 'Buy milk']);
  await checkbox('Buy milk').check();
  await settles(stored, ['✓ Buy milk', 'Pay the rent']);

  await openForm('Buy milk');
  await settles(() => description().inputValue(), 'Buy milk');
  await description().fill('Buy bread');
  await page().getByRole('checkbox', { name: 'Done', checked: true }).uncheck();
  await button('Save').click();
  await heading('Buy bread').waitFor();
  expect(await stored()).toEqual(['Buy bread', 'Pay the rent']);
  await button('Mark as done').click();
  await settles(stored, ['✓ Buy bread', 'Pay the rent']);
  // Not back into a form that has been saved.
  await page().goBack();
  await heading('All todos').waitFor();
  await page().reload();
  await page().getByRole('checkbox', { name: 'Buy bread', checked: true }).waitFor();
  expect(await rows()).toEqual(['Pay the rent', 'Buy bread']);

  await page().goto('/todos/2');
  await heading('Pay the rent').waitFor();
  await link('The API of this service').click();
  await page().waitForURL(/\/docs/);
  expect({ elsewhere, failed }).toEqual({ elsewhere: [], failed: [] });
});
