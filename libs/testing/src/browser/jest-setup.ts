import startPostgres from '@rest-services/local-postgres/jest-setup';
import type { BrowserServer } from 'playwright-core';
import { startChromium } from './chromium.ts';

declare global {
  var testBrowser: BrowserServer | undefined;
}

/** Once per test run: the server of the test databases, and a browser for the tests of the pages. */
export default async function setUp() {
  await startPostgres();
  globalThis.testBrowser = await startChromium();
  process.env.TEST_BROWSER_URL = globalThis.testBrowser.wsEndpoint();
}
