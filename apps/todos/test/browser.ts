import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { closedAtEnd, served, startService, useProxy, type TestService } from '@rest-services/testing';
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
export async function connectBrowser() {
  const browser = await chromium.connect(process.env.TEST_BROWSER_URL!);
  closedAtEnd(() => browser.close());
  return browser;
}

/**
 * Opens an empty page in a window with its own cookies, storage and settings. `errors` collects the errors of the page's
 * scripts and violations of the Content-Security-Policy.
 */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: desktop, ...options });
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

/** Opens a page whose requests the service worker makes. */
export async function openWithWorker(page: Page, url: string) {
  await page.goto(url);
  await settles(() => page.evaluate(() => navigator.serviceWorker.controller?.state), 'activated');
}

/**
 * For a test file: the todos service on an empty database behind a proxy, and a fresh page for every test.
 * @param options of the window, which is a desktop's otherwise
 */
export function useService(options: BrowserContextOptions = {}) {
  let service: TestService<TodosDatabase>;
  let browser: Browser;
  let opened: Awaited<ReturnType<typeof openPage>>;
  const proxy = useProxy(() => service.url);
  const page = () => opened.page;

  beforeAll(async () => {
    [service, browser] = await Promise.all([
      startService<TodosDatabase>('dist/main.js', { NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' }),
      connectBrowser(),
    ]);
  });
  beforeEach(async () => {
    await sql`alter table if exists hidden rename to todo`.execute(service.db);
    await sql`truncate todo restart identity`.execute(service.db);
    opened = await openPage(browser, { baseURL: proxy.url, ...options });
  });
  afterEach(async () => {
    await page().context().close();
    expect(opened.errors).toEqual([]);
  });

  /** Stores todos with the ids 1, 2, 3 …; those whose description begins with ✓ are done. */
  async function store(...todos: string[]) {
    const rows = todos.map((text) => ({
      description: text.replace(/^✓ ?/, ''),
      isCompleted: text.startsWith('✓') ? (1 as const) : (0 as const),
    }));
    if (rows.length > 0) await service.db.insertInto('todo').values(rows).execute();
  }

  return {
    ...locators(page),
    page,
    proxy,
    service: () => service,

    /** Stores todos, and opens a page of the client with the service worker on. */
    open: async (path: string, ...todos: string[]) => {
      await store(...todos);
      await openWithWorker(page(), proxy.url + path);
    },

    setOffline: (isOffline: boolean) => page().context().setOffline(isOffline),
    store,

    /** Stores as many todos as a person hardly writes. */
    storeMany: (count: number, done = 0) =>
      store(...Array.from({ length: count }, (_, n) => `${n < done ? '✓ ' : ''}Todo number ${n + 1}`)),

    /** Everything that is stored, as `✓ Description` or `Description`, in the order of the ids. */
    stored: async () => {
      const todos = await service.db.selectFrom('todo').selectAll().orderBy('id').execute();
      return todos.map(({ description, isCompleted }) => `${isCompleted ? '✓ ' : ''}${description}`);
    },

    /** Changes a todo as another person would. */
    change: async (id: number, description: string, isCompleted: 0 | 1 = 0) => {
      const send = () => service.request('PUT', '/api/todos', { id, description, isCompleted });
      expect((await served(send)).status).toBe(200);
    },

    /** Makes every statement on todos fail in PostgreSQL, until the function that it returns is called. */
    breakDatabase: async () => {
      await sql`alter table todo rename to hidden`.execute(service.db);
      return () => sql`alter table hidden rename to todo`.execute(service.db);
    },
  };
}

/** What tests look for in a page of the client. */
function locators(page: () => Page) {
  const named = (role: 'button' | 'link') => (name: string) => page().getByRole(role, { name, exact: true });
  const field = () => page().getByRole('textbox', { name: 'New todo' });
  const description = () => page().getByLabel('Description', { exact: true });
  return {
    button: named('button'),
    link: named('link'),
    heading: (name: string) => page().getByRole('heading', { level: 1, name }),
    checkbox: (name: string) => page().getByRole('checkbox', { name }),
    searchField: () => page().getByRole('searchbox'),
    /** The field above the list, and that of the form. */
    field,
    description,
    rows: () => page().getByRole('listitem').allInnerTexts(),
    /** The filters of the list, with their counts. */
    filters: async () => {
      const texts = await page().getByRole('navigation', { name: 'Filter' }).getByRole('link').allInnerTexts();
      return texts.map((text) => text.trim().replace(/\s+/, ' '));
    },

    /** Saves a text by the form. */
    save: async (text: string) => {
      await description().fill(text);
      await named('button')('Save').click();
    },

    /** Opens the form of a todo in the list, by way of its details. */
    openForm: async (name: string) => {
      await named('link')(`Details: ${name}`).click();
      await named('link')('Edit').click();
    },

    /** Edits a text where it stands in the list. */
    editInPlace: async (from: string, to: string, key = 'Enter') => {
      await page().locator('.todos .text').getByText(from, { exact: true }).click();
      await page().locator('.todos textarea').fill(to);
      await page().locator('.todos textarea').press(key);
    },

    /** Adds todos above the list. */
    add: async (...texts: string[]) => {
      for (const text of texts) {
        await field().fill(text);
        await field().press('Enter');
      }
    },

    press: async (...keys: string[]) => {
      for (const key of keys) await page().keyboard.press(key);
    },

    hasFocus: (selector: string) => page().locator(`${selector}:focus`).waitFor(),
    /** Name of the element with the focus. */
    focused: () =>
      page().evaluate(() => {
        const { activeElement } = document;
        return activeElement?.getAttribute('aria-label') ?? activeElement?.textContent.trim();
      }),

    /** Scrolls, and waits until the page has noted it. */
    scrollDown: async (to: number) => {
      await page().evaluate((top) => scrollTo(0, top), to);
      await settles(() => page().evaluate(() => (history.state as { scrollY?: number } | null)?.scrollY), to);
    },

    /** Comes back to the tab, as it seems to the page. */
    lookAgain: () => page().evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))),
  };
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
export async function settles(look: () => unknown, expected: unknown) {
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
