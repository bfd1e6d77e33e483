import { expect } from '@jest/globals';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { desktop, phone } from '../test/browser.ts';

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Expects that axe finds nothing in what a page shows, in light or dark, at 375 or 1280 pixels. */
export async function axeFindsNothing(page: Page) {
  await page.evaluate(axe.source);
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const viewport of [phone, desktop]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      const violations = await page.evaluate(async (standards) => {
        // What the source has put into the page.
        const { violations: found } = await axe.run({ runOnly: standards, resultTypes: ['violations'] });
        return found.flatMap(({ id, nodes }) => nodes.map((node) => [id, node.html, node.failureSummary]));
      }, standards);
      expect([colorScheme, viewport, violations]).toEqual([colorScheme, viewport, []]);
    }
  }
}
