import { expect, test } from '@jest/globals';
import { shortened } from '../src/data/format.ts';

const family = '👩‍👩‍👧‍👦';

test.each([
  [family.repeat(20), family.repeat(20)],
  [`${'x'.repeat(38)}${family}${family}`, `${'x'.repeat(38)}${family}${family}`],
  [`${'x'.repeat(38)}${family}yz`, `${'x'.repeat(38)}${family}…`],
])('A title never ends within what is read as one character: %s', (description, title) => {
  expect(shortened(description)).toBe(title);
});
