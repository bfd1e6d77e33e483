import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

test('script, styles and service worker are smaller than package.json allows', () => {
  const { status, stdout } = spawnSync('npx', ['--no', 'size-limit'], { encoding: 'utf8' });
  expect([stdout, status]).toEqual([expect.not.stringContaining('exceeded'), 0]);
});
