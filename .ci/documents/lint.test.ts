import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { makeDocument } from './documents.ts';

const folder = mkdtempSync(join(tmpdir(), 'documents-'));
afterAll(() => rmSync(folder, { recursive: true }));

const spectral = join(import.meta.dirname, 'node_modules/@stoplight/spectral-cli/dist/index.js');

test.each(services())('Spectral finds nothing in the document of $name', async ({ name }) => {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(await makeDocument(name)));
  const ruleset = join(import.meta.dirname, '.spectral.yaml');
  const args = ['lint', file, '--ruleset', ruleset, '--fail-severity', 'hint', '--format', 'json', '--quiet'];
  const { stdout } = await promisify(execFile)(process.execPath, [spectral, ...args]).catch(
    (error: unknown) => error as { stdout: string },
  );
  expect(JSON.parse(stdout)).toEqual([]);
});
