import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { createTree } from '@nx/devkit/testing';
import generateService from '../src/generators/service/generator.ts';
import { copyWorkspace, git, linkProject, plainEnvironment } from './copy.ts';

const run = promisify(execFile);
const workspace = join(import.meta.dirname, '../../..');
const copy = mkdtempSync(join(tmpdir(), 'generator-test-'));
afterAll(() => rmSync(copy, { recursive: true }));

/** Runs a command in the copy. Its output is in the message of the error when it fails. */
async function inCopy(file: string, ...args: string[]) {
  try {
    const options = { cwd: copy, env: { ...plainEnvironment, NODE_OPTIONS: '--experimental-vm-modules' } };
    await run(join(copy, 'node_modules/.bin', file), args, options);
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(stdout + stderr, { cause: error });
  }
}

test('refuses the name of an app or of a shape, a port that is taken and one that there is not', async () => {
  const tree = createTree();
  tree.write('apps/items/package.json', '{}');
  tree.write('docker/compose.yaml', readFileSync(join(workspace, 'docker/compose.yaml')));
  const generate = (name: string, port: number) => generateService(tree, { name, port });
  await expect(generate('items', 8083)).rejects.toThrow('apps/items exists');
  await expect(generate('messages', 8083)).rejects.toThrow('Message is a shape of each service');
  await expect(generate('settings', 8083)).rejects.toThrow('settings is a variable of each service');
  await expect(generate('notes', 8082)).rejects.toThrow('Port 8082 is that of tutorials');
  await expect(generate('notes', 9090)).rejects.toThrow('Port 9090 is published in docker/compose.yaml');
  await expect(generate('notes', 70_000)).rejects.toThrow('Port 70000 is not one of 1024 to 65535');
});

/** Limit for a whole run of a service's tests, on a machine that is busy. */
const TIMEOUT_MS = 900_000;

test(
  'generates a service that passes all checks, its build and tests, and those of the workspace',
  async () => {
    const name = 'meeting-notes';
    copyWorkspace(copy);
    const options = [name, '--port=8083', '--path=/v2/meeting-notes'];
    await inCopy('nx', 'g', '@rest-services/workspace:service', ...options);
    linkProject(copy, `apps/${name}`);
    const written = git(copy, 'ls-files', '--modified', '--others', '--exclude-standard').trim().split('\n');
    await inCopy('prettier', '--check', ...written);
    await inCopy('nx', 'build', 'client');
    await inCopy('oxlint', '--deny-warnings', `apps/${name}`, 'libs/client');
    await inCopy('tsc');
    await inCopy('nx', 'test', name);
    await inCopy('jest', '--config', 'docker/e2e/jest.config.mjs', 'compose');
  },
  TIMEOUT_MS,
);
