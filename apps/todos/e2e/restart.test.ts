import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { startProcess } from '@rest-services/testing';
import type { Browser } from 'playwright-core';
import { connectBrowser, hides, openPage, shows } from '../test/browser.ts';

let database: TestDatabase;
let browser: Browser;
beforeAll(async () => {
  [database, browser] = await Promise.all([createTestDatabase(), connectBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await database.drop();
});

/** The service as its own process. */
function startTodos(port: string) {
  const settings = { NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0', DATABASE_URL: database.url, PORT: port };
  return startProcess('dist/main.js', settings);
}

test('The server going away loses nothing that was typed, and all works when it is back', async () => {
  const first = startTodos('0');
  const url = await first.listening();
  const { page, errors } = await openPage(browser, { baseURL: url });
  await page.goto('/todos/new');
  await page.getByLabel('Description').fill('Buy milk');

  first.child.kill('SIGKILL');
  await first.ended;
  await page.getByRole('button', { name: 'Save' }).click();
  await shows(page, 'This could not be saved. The server cannot be reached. What you have typed is still here.');
  await page.getByRole('link', { name: 'All todos' }).first().click();
  await shows(page, 'Your todos could not be loaded. The server cannot be reached.');

  const second = startTodos(new URL(url).port);
  await second.listening();
  await page.getByRole('button', { name: 'Try again' }).click();
  await shows(page, 'There are no todos yet.');
  await page.goBack();
  await page.getByRole('button', { name: 'Save' }).click();
  await shows(page, 'Saved.');
  const toggled = page.waitForResponse((response) => response.request().method() === 'PUT');
  await page.getByRole('checkbox', { name: 'Buy milk' }).check();
  await toggled;
  await page.reload();
  await page.getByRole('link', { name: 'Done 1' }).waitFor();
  await hides(page, 'cannot be reached');

  expect(errors).toEqual([]);
  await page.context().close();
  second.child.kill('SIGTERM');
  expect((await second.ended).code).toBe(0);
});
