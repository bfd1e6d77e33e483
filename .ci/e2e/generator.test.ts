import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { copyWorkspace, linkProject, plainEnvironment, projects } from './copy.ts';

const run = promisify(execFile);
const copy = mkdtempSync(join(tmpdir(), 'generator-test-'));
const name = 'meeting-notes';

beforeAll(() => copyWorkspace(copy));
afterAll(() => rmSync(copy, { recursive: true }));

/** Runs a command in the copy. Its output is in the message of the error when it fails. */
async function inCopy(file: string, ...args: string[]) {
  try {
    const options = { cwd: copy, env: { ...plainEnvironment, NODE_OPTIONS: '--experimental-vm-modules' } };
    const { stdout, stderr } = await run(join(copy, 'node_modules/.bin', file), args, options);
    return stdout + stderr;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(stdout + stderr, { cause: error });
  }
}

const generate = (...args: string[]) => inCopy('nx', 'g', '@rest-services/workspace:service', ...args);

test('refuses the name of an app, a port that is taken and one that there is not', async () => {
  await expect(generate('items', '--port=8083')).rejects.toThrow('apps/items exists');
  await expect(generate('todos-web', '--port=8083')).rejects.toThrow('apps/todos-web exists');
  await expect(generate(name, '--port=8082')).rejects.toThrow('Port 8082 is that of tutorials');
  await expect(generate(name, '--port=9090')).rejects.toThrow('Port 9090 is published in docker/compose.yaml');
  await expect(generate(name, '--port=70000')).rejects.toThrow('Port 70000 is not one of 1024 to 65535');
  await expect(generate(name, '--port=8083', '--path=no/path')).rejects.toThrow(/path/);
  expect(projects(copy)).not.toContain(`apps/${name}`);
});

/** Limit for a whole run of a service's tests, on a machine that is busy. */
const TIMEOUT_MS = 900_000;

test(
  'generates a service that passes npm run check, its build and tests, and the tests of the workspace',
  async () => {
    await generate(name, '--port=8083', '--path=/v2/meeting-notes');
    linkProject(copy, `apps/${name}`);
    await inCopy('nx', 'run-many', '-t', 'build', '-p', name, 'client');
    await inCopy('nx', 'test', name);
    await inCopy('prettier', '--check', '.');
    await inCopy('oxlint', '--deny-warnings');
    await inCopy('tsc');
    await inCopy('jest', '--config', '.ci/jest.config.mjs', 'deployment', 'registry');
  },
  TIMEOUT_MS,
);
