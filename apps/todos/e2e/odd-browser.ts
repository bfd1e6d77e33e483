import type { Page, Worker } from 'playwright-core';

// What browsers and their users do to a page, as of its next load.

/** Makes text nodes elements, as translators do. @param isShouted whether to see which words they have reached */
export const translate = (page: Page, isShouted: boolean) =>
  page.addInitScript((isShouted) => {
    const translateAll = () => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const found: Text[] = [];
      while (texts.nextNode()) found.push(texts.currentNode as Text);
      for (const text of found) {
        const parent = text.parentElement;
        if (!text.data.trim() || !parent || parent.closest('x-font, script, style, textarea, [translate=no]')) continue;
        const font = document.createElement('x-font');
        font.textContent = isShouted ? text.data.toUpperCase() : text.data;
        text.replaceWith(font);
      }
    };
    addEventListener('DOMContentLoaded', () => {
      new MutationObserver(translateAll).observe(document.body, { childList: true, subtree: true });
    });
  }, isShouted);

/** Sets the clock of the browser ahead. */
export const setAhead = (page: Page, hours: number) =>
  page.addInitScript((ms) => {
    const { now } = Object.getPrototypeOf(Object.create(Date)) as DateConstructor;
    Date.now = () => now() + ms;
  }, hours * 3_600_000);

/** Ways in which browsers do not give what a page asks for, because cookies are blocked, a disk is full, or for no reason. */
export const ways = ['undefined', 'throws', 'rejects', 'never answers'] as const;

/** Parts of a browser that may not be there. */
export const parts = [
  ...['indexedDB', 'locks', 'BroadcastChannel', 'caches'],
  ...['serviceWorker', 'localStorage', 'sessionStorage'],
];

type Failure = [part: string, way: (typeof ways)[number]];

/** Makes a part of the browser fail, in a page or in a service worker. */
export const fail = (at: Page | Worker, ...failure: Failure) =>
  'addInitScript' in at ? at.addInitScript(failHere, failure) : at.evaluate(failHere, failure);

/** Blocks cookies: what a browser stores throws. */
export async function blockStorage(page: Page) {
  for (const part of parts) if (!['caches', 'serviceWorker'].includes(part)) await fail(page, part, 'throws');
}

function failHere([part, way]: Failure) {
  const refusal = new DOMException('Blocked', 'SecurityError');
  const refuse = () => {
    throw refusal;
  };
  const act = () => {
    if (way === 'throws') refuse();
    // A storage is used without waiting: nothing would take the rejection.
    return way === 'rejects' && !part.endsWith('Storage') ? Promise.reject(refusal) : new Promise(() => undefined);
  };
  /** Of IndexedDB, which has requests instead of promises. */
  const open = () => {
    if (way === 'throws') refuse();
    const request = {} as IDBOpenDBRequest;
    if (way === 'rejects') setTimeout(() => void request.onerror!(new Event('error')));
    return request;
  };
  const at = part in navigator ? navigator : globalThis;
  const failing = new Proxy(Reflect.get(at, part) as object, {
    get: (of, name) => (typeof Reflect.get(of, name) !== 'function' ? undefined : part === 'indexedDB' ? open : act),
    // A channel that does not throw is one that takes nothing, or on which the others are never heard.
    construct: () => (way === 'throws' ? act() : { postMessage: way === 'rejects' ? refuse : () => undefined }),
  });
  Object.defineProperty(at, part, { value: way === 'undefined' ? undefined : failing });
}
