import type { Page } from 'playwright-core';

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

/** Blocks cookies: what a browser stores throws. */
export const blockStorage = (page: Page) =>
  page.addInitScript(() => {
    const blocked = () => {
      throw new DOMException('Blocked', 'SecurityError');
    };
    IDBFactory.prototype.open = blocked;
    LockManager.prototype.request = blocked;
    Object.assign(globalThis, { BroadcastChannel: blocked });
    for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(globalThis, name, { get: blocked });
  });
