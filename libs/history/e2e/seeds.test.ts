import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const program = join(import.meta.dirname, '../src/run.ts');

test('Clients of six seeds see what the items service promises, whatever fails', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--seeds', '1-6']);
  const seeds = Array.from(stdout.matchAll(/^seed (\d+): (\d+) requests/gm), ([, seed]) => Number(seed));
  expect(seeds).toEqual([1, 2, 3, 4, 5, 6]);
}, 600_000);
