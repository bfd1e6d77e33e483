import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';
import { startProxy } from '../test/proxy.ts';

const run = promisify(execFile);
const dist = join(import.meta.dirname, '../dist');
const folder = mkdtempSync(join(tmpdir(), 'client-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Packed {
  filename: string;
  files: { path: string }[];
}
let packed: Packed;
beforeAll(async () => {
  const { stdout } = await npm(process.execPath, folder, 'pack', dist, '--json');
  [packed] = JSON.parse(stdout) as [Packed];
});

/** Runs npm on one Node.js, without the settings that npm has given to the script of this test. */
function npm(node: string, cwd: string, ...args: string[]) {
  const path = [dirname(node), process.env.PATH].join(delimiter);
  return run('npm', args, { cwd, env: { PATH: path, HOME: folder } });
}

/** Installs the package in an empty folder, without network. */
async function install(node: string, name: string) {
  const to = join(folder, name);
  mkdirSync(to);
  await npm(node, to, 'install', '--offline', join(folder, packed.filename));
  return to;
}

/** The README's lines for `fetch` and this package as one module, and what their comments say that they print. */
function readmeExample(baseUrl: string) {
  const readme = readFileSync(join(dist, 'README.md'), 'utf8');
  const blocks = Array.from(readme.matchAll(/^```[jt]s\n(.+?)^```/gms), ([, block]) => block!);
  const source = blocks.filter((block) => !block.includes("from 'axios'")).join('\n');
  const printed = Array.from(source.matchAll(/^ *\/\/ (.+\n)/gm), ([, line]) => line).join('');
  return { source: source.replaceAll('http://localhost:8080', baseUrl), printed };
}

/** Node.js of the workspace's packages, and each other that PATH has: CI has the oldest promised one in a job of its own. */
function nodeVersions() {
  const versions = new Map<string, string>();
  const folders = process.env.PATH!.split(delimiter);
  for (const node of [process.execPath, ...folders.map((entry) => join(entry, 'node'))]) {
    try {
      const version = execFileSync(node, ['--version'], { encoding: 'utf8', env: {} }).trim();
      if (!versions.has(version)) versions.set(version, node);
    } catch {
      // Not every folder of PATH has one.
    }
  }
  const isPromised = (version: string) => Number(/\d+/.exec(version)![0]) >= 20;
  return Array.from(versions, ([version, node]) => ({ version, node })).filter(({ version }) => isPromised(version));
}

describe.each(nodeVersions())('On Node.js $version', ({ version, node }) => {
  test('the package installs in an empty folder without network, and runs the lines of its README', async () => {
    const service = await startService('../../apps/items/dist/main.js');
    const proxy = await startProxy(service.url);
    const project = await install(node, version);
    const { source, printed } = readmeExample(proxy.url);
    writeFileSync(join(project, 'readme.mjs'), source);
    const { stdout } = await run(node, ['readme.mjs'], { cwd: project, env: {} });
    expect(printed).toContain('Buy milk');
    expect(stdout).toBe(printed);
    const required = `const { itemsClient, unwrap } = require('@rest-services/client');
      void unwrap(itemsClient({ baseUrl: '${proxy.url}' }).GET('/v1/items/summary')).then(({ total }) => console.log(total));`;
    expect((await run(node, ['--eval', required], { cwd: project, env: {} })).stdout).toMatch(/^\d+\n$/);
  });
});

test('Lines of README.md update with fetch, again after a 503', async () => {
  const service = await startService('../../apps/items/dist/main.js');
  const proxy = await startProxy(service.url);
  const [lines] = /^const created = await fetch.+?(?=^```)/ms.exec(readFileSync(join(dist, 'README.md'), 'utf8'))!;
  writeFileSync(join(folder, 'update.mjs'), lines.replaceAll('http://localhost:8080', proxy.url));
  const overload = { retryAfter: '1' };
  proxy.faults.push(undefined, overload, undefined, overload);
  const { stdout } = await run(process.execPath, ['update.mjs'], { cwd: folder, env: {} });
  expect(proxy.received.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'PUT', 'GET', 'PUT']);
  expect(stdout).toBe('503\n200\n');
});

describe('The package', () => {
  test('holds the module, its types, README and licences, and depends on no other', () => {
    const files = ['LICENSE', 'README.md', 'index.d.ts', 'index.js', 'licenses.txt', 'package.json'];
    expect(packed.files.map(({ path }) => path).sort()).toEqual(files);
    const manifest = JSON.parse(readFileSync(join(dist, 'package.json'), 'utf8')) as object;
    expect(manifest).toMatchObject({ type: 'module', engines: { node: '>=20' }, sideEffects: false });
    expect(Object.keys(manifest)).not.toContain('dependencies');
    expect(readFileSync(join(dist, 'licenses.txt'), 'utf8')).toContain('openapi-fetch');
  });

  test('is less than 4 kB, gzipped', () => {
    expect(gzipSync(readFileSync(join(dist, 'index.js'))).length).toBeLessThan(4000);
  });

  test.each([
    ['nodenext', 'module'],
    ['bundler', 'module'],
    ['node16', 'module'],
    ['nodenext', 'commonjs'],
  ])('has types that compile strictly, with module resolution %s, in a package of type %s', async (name, type) => {
    const project = await install(process.execPath, `${name}-${type}`);
    const types = readFileSync(join(import.meta.dirname, 'types.ts'), 'utf8');
    writeFileSync(join(project, 'types.ts'), types.replace('../src/index.ts', '@rest-services/client'));
    // CommonJS has no await outside of functions.
    const { source } = readmeExample('http://localhost:8080');
    const [, imports, lines] = /^((?:import .*\n)+)([^]*)$/.exec(source)!;
    writeFileSync(join(project, 'readme.ts'), `${imports}export async function run() {\n${lines}}`);
    writeFileSync(join(project, 'package.json'), JSON.stringify({ type }));
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
      ...{ module: name === 'bundler' ? 'esnext' : name, moduleResolution: name },
      ...{ target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], types: [], noEmit: true },
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const tsc = await run('tsc', ['--project', project]).catch((error: unknown) => error as { stdout: string });
    expect(tsc.stdout).toBe('');
  });
});
