import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { startService, type TestService } from '@rest-services/testing';
import { sql } from 'kysely';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import type { TodosDatabase } from '../src/database.ts';

/** How long a page may take to show what a test waits for. */
const PATIENCE_MS = 15_000;

/** Delay between two looks at what a test waits for, so that looking does not slow down what it looks at. */
const LOOK_AGAIN_MS = 20;

export const phone = { width: 375, height: 720 };
export const desktop = { width: 1280, height: 800 };

/** The browser that `browser-setup` has started. */
export function connectBrowser() {
  return chromium.connect(process.env.TEST_BROWSER_URL!);
}

/**
 * Opens an empty page in a window with its own cookies, storage and settings. `errors` collects the errors of the page's
 * scripts and violations of the Content-Security-Policy.
 */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  // Requests that a service worker makes pass by the routes that tests set.
  const context = await browser.newContext({ viewport: desktop, serviceWorkers: 'block', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    // Of a request that fails Chromium itself writes a line; how the page takes it is what the tests look at.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      errors.push(message.text());
  });
  return { page, errors };
}

/** For a test file: the todos service with its client on an empty database, and a fresh page for every test. */
export function useService(options: BrowserContextOptions = {}) {
  let service: TestService<TodosDatabase>;
  let browser: Browser;
  let opened: Awaited<ReturnType<typeof openPage>>;

  beforeAll(async () => {
    [service, browser] = await Promise.all([
      startService<TodosDatabase>('dist/main.js', { NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' }),
      connectBrowser(),
    ]);
  });
  beforeEach(async () => {
    await sql`alter table if exists hidden rename to todo`.execute(service.db);
    await sql`truncate todo restart identity`.execute(service.db);
    opened = await openPage(browser, { baseURL: service.url, ...options });
  });
  afterEach(async () => {
    await opened.page.context().close();
    expect(opened.errors).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  return {
    service: () => service,
    page: () => opened.page,
    /** What went wrong in the page's scripts so far; a test that means it to takes it out. */
    errors: () => opened.errors,

    /** Stores todos with the ids 1, 2, 3 …; those whose description begins with ✓ are done. */
    store: async (...descriptions: string[]) => {
      const rows = descriptions.map((text) => ({
        description: text.replace(/^✓ ?/, ''),
        isCompleted: text.startsWith('✓') ? (1 as const) : (0 as const),
      }));
      await service.db.insertInto('todo').values(rows).execute();
    },

    /** Everything that is stored, as `✓ Description` or `Description`, in the order of the ids. */
    stored: async () => {
      const todos = await service.db.selectFrom('todo').selectAll().orderBy('id').execute();
      return todos.map(({ description, isCompleted }) => `${isCompleted ? '✓ ' : ''}${description}`);
    },

    /** Makes every statement on todos fail in PostgreSQL, until the function that it returns is called. */
    breakDatabase: async () => {
      await sql`alter table todo rename to hidden`.execute(service.db);
      return () => sql`alter table hidden rename to todo`.execute(service.db);
    },
  };
}

/** Keeps requests of one method on their way until the function that it returns is called. */
export async function hold(page: Page, method: string) {
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/api\/todos/, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    await released;
    return route.fallback();
  });
  return release;
}

/** Pastes a text into what has the focus, without the clipboard, which all tests share. */
export const paste = (page: Page, text: string) =>
  page.evaluate((text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', text);
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    document.activeElement!.dispatchEvent(event);
  }, text);

/** Waits until a page shows all that it has to show. */
export async function isLoaded(page: Page) {
  await page.getByRole('main').waitFor();
  await page.locator('.loading').waitFor({ state: 'hidden' });
}

/** Waits for a text in the page. */
export const shows = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

/** Waits until a text is nowhere in the page. */
export const hides = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor({ state: 'hidden' });

/** Waits until what `look` returns equals `expected`. */
export async function settles(look: () => Promise<unknown>, expected: unknown) {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const seen = await look();
    try {
      expect(seen).toEqual(expected);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(LOOK_AGAIN_MS);
    }
  }
}
