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

interface Configuration {
  targetDefaults: Record<'test' | 'build', { command: string }>;
}

/** Copies the workspace, replaces tests and builds by commands that record their project, and fills the cache. */
beforeAll(() => {
  const isCopied = (file: string) => !/\/(node_modules|dist|\.git|\.nx|\.data)$/.test(file);
  cpSync(workspace, copy, { recursive: true, filter: isCopied });
  symlinkSync(join(workspace, 'node_modules'), join(copy, 'node_modules'));
  const configuration = JSON.parse(read('nx.json')) as Configuration;
  for (const target of ['test', 'build'] as const)
    configuration.targetDefaults[target].command = `echo {projectName} >>${record} #`;
  writeFileSync(join(copy, 'nx.json'), JSON.stringify(configuration));
  withRecordedBuild('apps/todos-web/package.json');
  withRecordedBuild('libs/client/package.json');
  all = testsRun();
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (file: string) => readFileSync(join(copy, file), 'utf8');

/** Replaces the command of a project that has its own. */
function withRecordedBuild(file: string) {
  const manifest = JSON.parse(read(file)) as { nx: { targets: { build: { command: string } } } };
  manifest.nx.targets.build.command = `echo {projectName} >>${record} #`;
  writeFileSync(join(copy, file), JSON.stringify(manifest));
}

const testsRun = (environment: NodeJS.ProcessEnv = {}) => projectsRun('test', environment);

/** Projects whose target Nx runs, because its cache has no result for their inputs. */
function projectsRun(target: string, environment: NodeJS.ProcessEnv = {}) {
  writeFileSync(record, '');
  const nx = join(workspace, 'node_modules/.bin/nx');
  execFileSync(process.execPath, [nx, 'run-many', '-t', target, '--excludeTaskDependencies'], {
    cwd: copy,
    env: { ...process.env, NX_DAEMON: 'false', ...environment },
  });
  return readFileSync(record, 'utf8').split('\n').filter(Boolean).sort();
}

/** Gives a package another version in the lockfile, with its integrity, by which Nx knows the version. */
function bump(name: string) {
  const lock = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { version: string; integrity: string }>;
  };
  const entry = lock.packages[`node_modules/${name}`]!;
  entry.version += '-bumped';
  entry.integrity = `sha512-${Buffer.from(name).toString('base64')}`;
  writeFileSync(join(copy, 'package-lock.json'), JSON.stringify(lock));
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
  expect(testsRun()).toEqual([...apps, 'bench', 'client', 'database', 'history', 'local-postgres', 'service'].sort());
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

test.each(['jest', 'eslint'])('a new %s in the lockfile runs all tests and no build', (name) => {
  projectsRun('build');
  bump(name);
  expect(testsRun()).toEqual(all);
  expect(projectsRun('build')).toEqual([]);
});

test.each(['pg', 'esbuild'])('a new %s in the lockfile builds all services', (name) => {
  projectsRun('build');
  bump(name);
  expect(projectsRun('build')).toEqual(expect.arrayContaining(services().map((service) => service.name)));
});
