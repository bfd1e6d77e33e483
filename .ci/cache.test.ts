import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';

const workspace = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'cache-test-'));
const copy = join(folder, 'workspace');
const record = join(folder, 'record');
let all: string[];

/** Copies the workspace, replaces each test by a command that records its project, and fills the cache. */
beforeAll(() => {
  const isCopied = (file: string) => !/\/(node_modules|dist|\.git|\.nx|\.data)$/.test(file);
  cpSync(workspace, copy, { recursive: true, filter: isCopied });
  symlinkSync(join(workspace, 'node_modules'), join(copy, 'node_modules'));
  const configuration = JSON.parse(read('nx.json')) as { targetDefaults: { test: { command: string } } };
  configuration.targetDefaults.test.command = `echo {projectName} >>${record}`;
  writeFileSync(join(copy, 'nx.json'), JSON.stringify(configuration));
  all = testsRun();
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (file: string) => readFileSync(join(copy, file), 'utf8');

/** Projects whose tests `nx test` runs, because its cache has no result for their inputs. */
function testsRun(environment: NodeJS.ProcessEnv = {}) {
  writeFileSync(record, '');
  const nx = join(workspace, 'node_modules/.bin/nx');
  execFileSync(process.execPath, [nx, 'run-many', '-t', 'test', '--excludeTaskDependencies'], {
    cwd: copy,
    env: { ...process.env, ...environment },
  });
  return readFileSync(record, 'utf8').split('\n').filter(Boolean).sort();
}

test('nx test takes results from its cache while nothing has changed', () => {
  expect(all).toContain('errors');
  expect(testsRun()).toEqual([]);
});

test('nx test runs all that use the local PostgreSQL after a change of the environment in docker/Dockerfile', () => {
  const dockerfile = read('docker/Dockerfile');
  writeFileSync(join(copy, 'docker/Dockerfile'), dockerfile.replace('MALLOC_ARENA_MAX=2', 'MALLOC_ARENA_MAX=3'));
  expect(read('docker/Dockerfile')).not.toBe(dockerfile);
  const apps = services().map(({ name }) => name);
  expect(testsRun()).toEqual([...apps, 'bench', 'database', 'local-postgres', 'service'].sort());
});

test.each(['DATABASE_URL', 'GENERATE_CLIENT', 'NODE_ENV'])('nx test runs all after a change of %s', (name) => {
  expect(testsRun({ [name]: 'changed' })).toEqual(all);
});

test('nx test runs all after a change of the Node.js version', () => {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'node'), '#!/bin/sh\necho v99.0.0\n', { mode: 0o755 });
  expect(testsRun({ PATH: [bin, process.env.PATH].join(delimiter) })).toEqual(all);
});
