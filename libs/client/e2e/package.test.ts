import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from '@jest/globals';
import { closedAtEnd, startService, useProxy } from '@rest-services/testing';
import { chromium } from 'playwright-core';

const run = promisify(execFile);
const dist = join(import.meta.dirname, '../dist');
const folder = mkdtempSync(join(tmpdir(), 'client-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs npm without the settings that npm has given to the script of this test. */
const npm = (cwd: string, ...args: string[]) =>
  run('npm', args, { cwd, env: { PATH: process.env.PATH, HOME: folder } });

const { stdout: packing } = await npm(folder, 'pack', dist, '--json');
const [packed] = JSON.parse(packing) as [{ filename: string; files: { path: string }[] }];

/** Installs the package in an empty folder, without network. */
async function install(name: string) {
  const to = join(folder, name);
  mkdirSync(to);
  await npm(to, 'install', '--offline', join(folder, packed.filename));
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

let target = '';
const proxy = useProxy(() => target, '/v1/');

test('The package installs in an empty folder without network, and runs the lines of its README', async () => {
  const service = await startService('../../apps/items/dist/main.js');
  const project = await install('project');
  const { source, printed } = readmeExample(service.url);
  writeFileSync(join(project, 'readme.mjs'), source);
  const node = (...args: string[]) => run(process.execPath, args, { cwd: project, env: {} });
  expect(printed).toContain('Buy milk');
  expect((await node('readme.mjs')).stdout).toBe(printed);
  const required = `const { itemsClient, unwrap } = require('@rest-services/client');
    void unwrap(itemsClient({ baseUrl: '${service.url}' }).GET('/v1/items/summary')).then(({ total }) => console.log(total));`;
  expect((await node('--eval', required)).stdout).toMatch(/^\d+\n$/);
});

test('The package runs the same lines as it is in a page from another origin', async () => {
  const files: Record<string, string> = { '/': '', '/index.js': readFileSync(join(dist, 'index.js'), 'utf8') };
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', url === '/' ? 'text/html' : 'text/javascript').end(files[url]);
  });
  await once(server.listen(0, '127.0.0.1').unref(), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const service = await startService('../../apps/items/dist/main.js', { NODE_ENV: 'production', CORS_ORIGIN: origin });
  const { source, printed } = readmeExample(service.url);
  files['/lines.js'] = source.replace('@rest-services/client', '/index.js');
  const browser = await chromium.connect(process.env.TEST_BROWSER_URL!);
  closedAtEnd(() => browser.close());
  const page = await browser.newPage();
  let output = '';
  page.on('console', (message) => (output += message.type() === 'log' ? `${message.text()}\n` : ''));
  await page.goto(origin);
  await page.evaluate(`import('/lines.js')`);
  expect(output).toBe(printed);
});

test('Lines of README.md update with fetch, again after a 503', async () => {
  ({ url: target } = await startService('../../apps/items/dist/main.js'));
  const [lines] = /^const created = await fetch.+?(?=^```)/ms.exec(readFileSync(join(dist, 'README.md'), 'utf8'))!;
  writeFileSync(join(folder, 'update.mjs'), lines.replaceAll('http://localhost:8080', proxy.url));
  const overload = { answer: { status: 503, headers: { 'retry-after': '1' }, body: '{"message":"Overloaded"}' } };
  const faults = [undefined, overload, undefined, overload];
  proxy.fault = () => faults.shift();
  const { stdout } = await run(process.execPath, ['update.mjs'], { cwd: folder, env: {} });
  expect(proxy.seen.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'PUT', 'GET', 'PUT']);
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
    const project = await install(`${name}-${type}`);
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
