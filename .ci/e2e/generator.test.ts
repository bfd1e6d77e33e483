import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const run = promisify(execFile);
const workspace = join(import.meta.dirname, '../..');
const copy = mkdtempSync(join(tmpdir(), 'generator-test-'));
const name = 'meeting-notes';

beforeAll(() => {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: workspace,
  });
  const files = list
    .toString()
    .split('\0')
    .filter((file) => file && existsSync(join(workspace, file)));
  for (const file of files) cpSync(join(workspace, file), join(copy, file));
  linkPackages('.');
  for (const project of projects()) linkPackages(project);
  for (const project of projects()) linkProject(project);
});
afterAll(() => rmSync(copy, { recursive: true }));

const projects = () =>
  ['apps', 'libs'].flatMap((folder) => readdirSync(join(copy, folder)).map((to) => join(folder, to)));

/** Links all installed packages but those of the workspace itself, which would lead out of the copy. */
function linkPackages(project: string) {
  const packages = join(project, 'node_modules');
  if (!existsSync(join(workspace, packages))) return;
  for (const entry of readdirSync(join(workspace, packages)))
    if (entry !== '@rest-services') link(join(workspace, packages, entry), join(packages, entry));
}

/** Does for a project what `npm install` does. */
function linkProject(project: string) {
  link(join(copy, project), join('node_modules/@rest-services', project.split('/')[1]!));
}

function link(target: string, path: string) {
  mkdirSync(join(copy, dirname(path)), { recursive: true });
  symlinkSync(target, join(copy, path));
}

/** Runs a command in the copy. Its output is in the message of the error when it fails. */
async function inCopy(file: string, ...args: string[]) {
  // Jest has set NODE_ENV, and Nx describes the task that runs this test.
  const own = Object.entries(process.env).filter(([name]) => name !== 'NODE_ENV' && !name.startsWith('NX_'));
  const env = Object.fromEntries(own);
  try {
    const { stdout, stderr } = await run(join(copy, 'node_modules/.bin', file), args, { cwd: copy, env });
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
  expect(projects()).not.toContain(`apps/${name}`);
});

/** Limit for a whole run of a service's tests, on a machine that is busy. */
const TIMEOUT_MS = 900_000;

test(
  'generates a service that passes npm run check, its build and tests, and the tests of the workspace',
  async () => {
    await generate(name, '--port=8083', '--path=/v2/meeting-notes');
    linkProject(`apps/${name}`);
    await inCopy('nx', 'run-many', '-t', 'build', '-p', name, 'client');
    await inCopy('nx', 'test', name);
    await inCopy('prettier', '--check', '.');
    await inCopy('oxlint', '--deny-warnings');
    await inCopy('tsc');
    await inCopy('jest', '--config', '.ci/jest.config.mjs', 'deployment', 'registry');
  },
  TIMEOUT_MS,
);
