import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';

interface Manifest {
  name: string;
  version: string;
  nx: { name: string };
}

const workspace = join(import.meta.dirname, '../..');
const released = [...services().map(({ name }) => `apps/${name}`), 'libs/client'];

describe('nx release', () => {
  const copy = mkdtempSync(join(tmpdir(), 'release-test-'));
  const read = (file: string) => readFileSync(join(copy, file), 'utf8');
  const write = (file: string, content: string) => {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    writeFileSync(join(copy, file), content);
  };
  const manifestOf = (folder: string) => JSON.parse(read(join(folder, 'package.json'))) as Manifest;

  /** Neither the user's repository and settings matter, nor the Nx that runs the test. npm asks no registry unless peer dependencies conflict. */
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(GIT|NX)_/.test(name))),
    NX_DAEMON: 'false',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Author',
    GIT_AUTHOR_EMAIL: 'author@example.com',
    GIT_COMMITTER_NAME: 'Committer',
    GIT_COMMITTER_EMAIL: 'committer@example.com',
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
  };
  const run = (file: string, ...args: string[]) =>
    execFileSync(file, args, { cwd: copy, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  beforeAll(() => {
    // A copy, because the released tree may have no history to clone.
    const projects = ['apps', 'libs'].flatMap((parent) =>
      readdirSync(join(workspace, parent)).map((name) => join(parent, name)),
    );
    const files = [
      ...[
        '.gitignore',
        '.prettierrc.json',
        'nx.json',
        'package.json',
        'package-lock.json',
        'libs/workspace/src/changelog-renderer.ts',
      ],
      ...projects.map((folder) => join(folder, 'package.json')),
    ];
    for (const file of files.filter((file) => existsSync(join(workspace, file))))
      cpSync(join(workspace, file), join(copy, file));
    symlinkSync(join(workspace, 'node_modules'), join(copy, 'node_modules'));

    for (const folder of released) {
      write(join(folder, 'package.json'), JSON.stringify({ ...manifestOf(folder), version: '1.4.1' }));
      write(join(folder, 'CHANGELOG.md'), '## 1.4.1\n\n- Earlier\n');
    }
    // As the generator makes one.
    const notes = { ...manifestOf('apps/items'), name: '@rest-services/notes', version: '0.1.0' };
    write('apps/notes/package.json', JSON.stringify({ ...notes, nx: { ...notes.nx, name: 'notes' } }));

    write('.nx/version-plans/fix.md', '---\nitems: patch\nclient: patch\n---\n\nLists end\nwith a line break.\n');
    write('.nx/version-plans/new.md', '---\nclient: minor\nnotes: minor\n---\n\nThe header `ETag`.\n');
    write('.nx/version-plans/gone.md', '---\ntodos: major\n---\n\nNo `title` any more.\n');
    run('git', 'init', '--quiet');
    run('git', 'add', '.gitignore', '*.json', '*.md', '*.ts');
    run('git', 'commit', '--quiet', '--message=work');
    run('nx', 'release', '--skip-publish');
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  test('raises versions as planned, in package-lock.json too, also that of a new service', () => {
    const expected = {
      'apps/items': '1.4.2',
      'apps/notes': '0.2.0',
      'apps/todos': '2.0.0',
      'apps/tutorials': '1.4.1',
      'libs/client': '1.5.0',
    };
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Manifest> };
    for (const [folder, version] of Object.entries(expected))
      expect([folder, manifestOf(folder).version, packages[folder]!.version]).toEqual([folder, version, version]);
  });

  test('writes what the plans say into the CHANGELOG.md of each project', () => {
    const date = String.raw`\(\d{4}-\d\d-\d\d\)`;
    const earlier = '## 1.4.1\n\n- Earlier\n';
    const expected = {
      'apps/items': `## 1.4.2 DATE\n\n### Fixed\n\n- Lists end\n  with a line break.\n\n${earlier}`,
      'apps/notes': '## 0.2.0 DATE\n\n### Added and changed\n\n- The header `ETag`.',
      'apps/todos': `## 2.0.0 DATE\n\n### ⚠️  Breaking Changes\n\n- No \`title\` any more.\n\n${earlier}`,
      'apps/tutorials': earlier,
      'libs/client':
        '## 1.5.0 DATE\n\n### Added and changed\n\n- The header `ETag`.\n\n' +
        `### Fixed\n\n- Lists end\n  with a line break.\n\n${earlier}`,
    };
    for (const [folder, text] of Object.entries(expected))
      expect([folder, read(join(folder, 'CHANGELOG.md')).replace(new RegExp(date), 'DATE')]).toEqual([folder, text]);
    expect(existsSync(join(copy, 'apps/todos-web/CHANGELOG.md'))).toBe(false);
  });

  test('makes one commit, which removes the plans, and a tag NAME@VERSION for each project', () => {
    const tags = ['client@1.5.0', 'items@1.4.2', 'notes@0.2.0', 'todos@2.0.0'];
    expect(run('git', 'tag', '--points-at=HEAD').trim().split('\n')).toEqual(tags);
    expect(run('git', 'log', '--format=%s').trim().split('\n')).toEqual(['release: publish', 'work']);
    const removed = run('git', 'show', '--diff-filter=D', '--name-only', '--format=').trim().split('\n');
    expect(removed).toEqual(['fix', 'gone', 'new'].map((name) => `.nx/version-plans/${name}.md`));
    expect(run('git', 'status', '--porcelain', '--untracked-files=no')).toBe('');
  });
});
