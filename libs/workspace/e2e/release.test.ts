import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { copyWorkspace, git, plainEnvironment } from './copy.ts';

// `nx release`, as .github/RELEASING.md has it.

const copy = mkdtempSync(join(tmpdir(), 'release-test-'));
const read = (file: string) => readFileSync(join(copy, file), 'utf8');
const write = (file: string, content: string) => writeFileSync(join(copy, file), content);
const PLANS = '.nx/version-plans';

beforeAll(() => {
  copyWorkspace(copy);
  for (const folder of ['apps/items', 'apps/todos', 'apps/tutorials', 'libs/client']) {
    const manifest = join(folder, 'package.json');
    write(manifest, read(manifest).replace(/(?<="version": ")[^"]+/, '1.4.1'));
    write(join(folder, 'CHANGELOG.md'), '## 1.4.1\n\n- Earlier\n');
  }
  // As the generator makes it.
  const manifest = 'apps/programming-languages/package.json';
  write(manifest, read(manifest).replace(/(?<="version": ")[^"]+/, '0.0.0'));
  rmSync(join(copy, 'apps/programming-languages/CHANGELOG.md'));
  for (const plan of readdirSync(join(copy, PLANS))) rmSync(join(copy, PLANS, plan));
  write(`${PLANS}/fix.md`, '---\nitems: patch\nclient: patch\n---\n\nLists end\nwith a line break.\n');
  write(`${PLANS}/new.md`, '---\nclient: minor\n---\n\nThe header `ETag`.\n');
  write(`${PLANS}/first.md`, '---\nprogramming-languages: minor\n---\n\nThe first release.\n');
  write(`${PLANS}/gone.md`, '---\ntodos: major\n---\n\nNo `title` any more.\n');
  git(copy, 'add', '--all');
  git(copy, 'commit', '--quiet', '--message=work');
  execFileSync('npx', ['nx', 'release', '--skip-publish'], { cwd: copy, env: plainEnvironment, stdio: 'pipe' });
});
afterAll(() => rmSync(copy, { recursive: true }));

test('raises versions as planned, in package-lock.json too', () => {
  const expected = {
    'apps/items': '1.4.2',
    'apps/programming-languages': '0.1.0',
    'apps/todos': '2.0.0',
    'apps/tutorials': '1.4.1',
    'libs/client': '1.5.0',
  };
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version: string }> };
  for (const [folder, version] of Object.entries(expected)) {
    const manifest = JSON.parse(read(join(folder, 'package.json'))) as { version: string };
    expect([folder, manifest.version, packages[folder]!.version]).toEqual([folder, version, version]);
  }
});

test('writes what the plans say into the CHANGELOG.md of each project', () => {
  const earlier = '## 1.4.1\n\n- Earlier\n';
  const fixed = `### Fixed\n\n- Lists end\n  with a line break.\n\n${earlier}`;
  const expected = {
    'apps/items': `## 1.4.2 DATE\n\n${fixed}`,
    'apps/programming-languages': '## 0.1.0 DATE\n\n### Added and changed\n\n- The first release.',
    'apps/todos': `## 2.0.0 DATE\n\n### ⚠️  Breaking Changes\n\n- No \`title\` any more.\n\n${earlier}`,
    'apps/tutorials': earlier,
    'libs/client': `## 1.5.0 DATE\n\n### Added and changed\n\n- The header \`ETag\`.\n\n${fixed}`,
  };
  for (const [folder, text] of Object.entries(expected))
    expect(read(join(folder, 'CHANGELOG.md')).replace(/\(\d{4}-\d\d-\d\d\)/, 'DATE')).toBe(text);
  expect(existsSync(join(copy, 'apps/todos-web/CHANGELOG.md'))).toBe(false);
});

test('makes one commit, which removes the plans, and a tag NAME@VERSION for each project', () => {
  const tags = git(copy, 'tag', '--points-at=HEAD').trim().split('\n');
  expect(tags).toEqual(['client@1.5.0', 'items@1.4.2', 'programming-languages@0.1.0', 'todos@2.0.0']);
  expect(git(copy, 'log', '--format=%s').trim().split('\n')).toEqual(['release: publish', 'work', 'all']);
  const removed = git(copy, 'show', '--diff-filter=D', '--name-only', '--format=').trim().split('\n');
  expect(removed).toEqual(['first', 'fix', 'gone', 'new'].map((name) => `${PLANS}/${name}.md`));
  expect(git(copy, 'status', '--porcelain', '--untracked-files=no')).toBe('');
});
