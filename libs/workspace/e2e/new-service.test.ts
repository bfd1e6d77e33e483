import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { copyWorkspace, git, plainEnvironment } from './copy.ts';

const copy = mkdtempSync(join(tmpdir(), 'new-service-'));
afterAll(() => rmSync(copy, { recursive: true }));
const read = (file: string) => readFileSync(join(copy, file), 'utf8');

/** Types a line in the copy. What it writes is in the message of the error when it fails. */
async function type(line: string) {
  const PATH = `${join(copy, 'node_modules/.bin')}:${plainEnvironment.PATH}`;
  const env = { ...plainEnvironment, PATH, NODE_OPTIONS: '--experimental-vm-modules' };
  await promisify(execFile)('bash', ['-ec', line], { cwd: copy, env, maxBuffer: Infinity }).catch((error: unknown) => {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(line + stdout + stderr, { cause: error });
  });
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

/** Limit for a whole run of a service's tests, on a machine that is busy. */
const TIMEOUT_MS = 900_000;

test(
  'The lines of CONTRIBUTING.md make a service that passes all checks, its build and tests',
  async () => {
    copyWorkspace(copy);
    const [, recipe] = /^## Start a service\n.*?```sh\n(.*?)```/ms.exec(read('CONTRIBUTING.md'))!;
    // This is what npm install does, which needs the network.
    await type(recipe!.replace(/^npm install$/m, 'ln -s ../../apps/notes node_modules/@rest-services/notes'));
    nameNotes();
    const written = git(copy, 'ls-files', '--modified', '--others', '--exclude-standard').trim().split('\n');
    await type(`prettier --check ${written.join(' ')}`);
    await type(
      'oxlint --deny-warnings apps/notes && node libs/workspace/src/check-imports.ts && nx build client && tsc',
    );
    await type('nx test notes');
    await type('jest --config docker/e2e/jest.config.mjs compose kubernetes');
  },
  TIMEOUT_MS,
);
