import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { parse } from 'yaml';

const workspace = join(import.meta.dirname, '../..');
const released = [...services().map(({ name }) => `apps/${name}`), 'libs/client'];

test.each(released)('%s has a version, which is that of the newest entry in its CHANGELOG.md', (folder) => {
  const { version } = JSON.parse(readFileSync(join(workspace, folder, 'package.json'), 'utf8')) as { version: string };
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  const changelog = join(workspace, folder, 'CHANGELOG.md');
  // A service gets its file with its first release.
  if (existsSync(changelog)) expect(readFileSync(changelog, 'utf8').split(/\s/, 2)).toEqual(['##', version]);
});

test('Version plans name projects with versions, and say what users notice', () => {
  const folder = join(workspace, '.nx/version-plans');
  const plans = existsSync(folder) ? readdirSync(folder) : [];
  for (const plan of plans) {
    const [, bumps, text] = /^---\n(.+?)\n---\n\n(.+)$/s.exec(readFileSync(join(folder, plan), 'utf8')) ?? [];
    expect([plan, text]).toEqual([plan, expect.any(String)]);
    for (const [project, bump] of Object.entries(parse(bumps!) as Record<string, string>)) {
      expect([plan, released.map((root) => root.split('/')[1])]).toEqual([plan, expect.arrayContaining([project])]);
      expect([plan, ['major', 'minor', 'patch']]).toEqual([plan, expect.arrayContaining([bump])]);
    }
  }
});
