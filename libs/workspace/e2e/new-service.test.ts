import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';
import { copyWorkspace, git, plainEnvironment } from './copy.ts';
import { type } from './terminal.ts';

const copy = mkdtempSync(join(tmpdir(), 'new-service-'));
afterAll(() => rmSync(copy, { recursive: true }));
const read = (file: string) => readFileSync(join(copy, file), 'utf8');

const PATH = `${join(copy, 'node_modules/.bin')}:${plainEnvironment.PATH}`;
const env = { ...plainEnvironment, PATH, NODE_OPTIONS: '--experimental-vm-modules' };

/** Types lines in the copy. */
async function run(lines: string) {
  const { code, output, errors } = await type(`set -e\n${lines}`, { cwd: copy, env }).ended;
  expect(code === 0 || output + errors).toBe(true);
}

/** What names items in a file that names all services, as text that is put behind a copy of it for notes. */
const NAMED: Record<string, RegExp[]> = {
  'README.md': [/^\| \[items\].*\n/m],
  'docker/compose.yaml': [/^ {2}items:\n(?: {4}.*\n)+\n/m, /^ {6}- items-database-url\n/m, /^ {2}items-d.*\n.*\n/m],
  'docker/observability/prometheus.yml': [/'items:8080', /],
  '.github/workflows/release.yml': [/items, /],
};

function nameNotes() {
  for (const [file, patterns] of Object.entries(NAMED)) {
    const named = patterns.reduce((text, pattern) => {
      expect([file, text]).toEqual([file, expect.stringMatching(pattern)]);
      return text.replace(pattern, (items) => items + items.replaceAll('items', 'notes').replaceAll('8080', '8083'));
    }, read(file));
    writeFileSync(join(copy, file), named.replaceAll('ITEMS_PORT:-8083', 'NOTES_PORT:-8083'));
  }
}

// A whole run of a service's tests, on a machine that is busy.
jest.setTimeout(900_000);

test('The lines of CONTRIBUTING.md make a service that passes all checks, its build and tests', async () => {
  copyWorkspace(copy);
  const [, recipe] = /^## Start a service\n.*?```sh\n(.*?)```/ms.exec(read('CONTRIBUTING.md'))!;
  // This is what npm install does, which needs the network.
  await run(recipe!.replace(/^npm install$/m, 'ln -s ../../apps/notes node_modules/@rest-services/notes'));
  nameNotes();
  const written = git(copy, 'ls-files', '--modified', '--others', '--exclude-standard').trim().split('\n');
  await run(`prettier --check ${written.join(' ')}`);
  await run('oxlint --deny-warnings apps/notes && node libs/workspace/src/check-imports.ts');
  await run('nx build client && tsc');
  await run('nx test notes');
  await run('jest --config docker/e2e/jest.config.mjs compose kubernetes');
});
