import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startService, type TestService } from '@rest-services/testing';
import { services, type Service } from '@rest-services/workspace';
import { build } from 'esbuild';

// Generates clients from the document that each service serves, compiles them, and lists the records of the service with each.
// That of openapi-typescript is libs/client, which the tests of each app call.

const run = promisify(execFile);
const packages = join(import.meta.dirname, 'node_modules');
const folder = mkdtempSync(join(tmpdir(), 'clients-'));
symlinkSync(packages, join(folder, 'node_modules'));
writeFileSync(
  join(folder, 'tsconfig.json'),
  JSON.stringify({
    compilerOptions: {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: 'es2024',
      lib: ['es2024', 'dom', 'dom.iterable'],
      module: 'esnext',
      moduleResolution: 'bundler',
      types: [],
    },
    include: ['*/**/*.ts'],
  }),
);

/** The part of an OpenAPI document that is read here. */
interface Document {
  paths: Record<string, { get: { operationId: string } }>;
  components: { schemas: Record<string, { examples?: [object] }> };
}

/** What a program that lists records needs to know. */
interface Listing {
  /** Base URL of the service. */
  url: string;
  path: string;
  /** Name of the operation. */
  list: string;
  /** The array in the body of the response. */
  records: '' | '.data';
}

const capitalised = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** Commands that generate clients from `document.json`. */
const commands = [
  ['@hey-api/openapi-ts/bin/run.js', '--input', 'document.json', '--output', 'hey-api', '--no-log-file'],
  ['orval/dist/bin/orval.mjs', '--config', 'orval.config.mjs'],
];

const orvalConfig = (url: string) => `export default {
  fetch: { input: 'document.json', output: { client: 'fetch', target: 'orval-fetch.ts', baseUrl: '${url}' } },
  zod: { input: 'document.json', output: { client: 'zod', target: 'orval-zod.ts' } },
};`;

/** Programs that list the records with a client. */
const programs: Record<string, (listing: Listing) => string> = {
  'hey-api': ({ url, list, records }) => `
    import { client } from './hey-api/client.gen';
    import { ${list} } from './hey-api';
    client.setConfig({ baseUrl: '${url}' });
    const { data } = await ${list}({ throwOnError: true });
    const records: { id: number }[] = data${records};`,
  'orval (fetch)': ({ list, records }) => `
    import { ${list} } from './orval-fetch';
    const response = await ${list}();
    if (response.status !== 200) throw new Error(String(response.status));
    const records: { id: number }[] = response.data${records};`,
  'orval (zod)': ({ url, path, list, records }) => `
    import { ${capitalised(list)}Response } from './orval-zod';
    const response = await fetch('${url}${path}');
    const records: { id: number }[] = ${capitalised(list)}Response.parse(await response.json())${records};`,
};

const running: TestService[] = [];
beforeAll(() => Promise.all(services().map(prepare)));
afterAll(async () => {
  await Promise.all(running.map((service) => service.stop()));
  rmSync(folder, { recursive: true });
});

/** Starts a service, creates the record that its document has as an example, and generates clients and programs. */
async function prepare({ name, path }: Service) {
  const service = await startService(join(import.meta.dirname, '../../apps', name, 'dist/main.js'));
  running.push(service);
  const { url } = service;
  const document = (await service.request('GET', '/openapi.json')).body as Document;
  const [, shape] = Object.entries(document.components.schemas).find(([each]) => /^Create[A-Z]|Fields$/.test(each))!;
  expect((await service.request('POST', path, shape.examples![0])).status).toBeLessThan(300);

  const cwd = join(folder, name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'document.json'), JSON.stringify(document));
  writeFileSync(join(cwd, 'orval.config.mjs'), orvalConfig(url));
  for (const [bin, ...args] of commands) await run(process.execPath, [join(packages, bin!), ...args], { cwd, env });
  const records = Array.isArray((await service.request('GET', path)).body) ? '' : '.data';
  const listing = { url, path, list: document.paths[path]!.get.operationId, records } as const;
  for (const [client, program] of Object.entries(programs))
    writeFileSync(join(cwd, `list with ${client}.ts`), `${program(listing)}\nconsole.log(JSON.stringify(records));\n`);
}

// The options for Jest are of no use to other programs.
const env = { ...process.env, NODE_OPTIONS: '' };

test('All generated clients compile under strict', async () => {
  const { stdout } = await run('tsc', ['--project', folder]).catch((error: unknown) => error as { stdout: string });
  expect(stdout).toBe('');
});

describe.each(services())('A generated client of $name lists the records:', ({ name }) => {
  test.each(Object.keys(programs))('%s', async (client) => {
    const bundle = join(folder, name, `${client}.mjs`);
    await build({
      entryPoints: [join(folder, name, `list with ${client}.ts`)],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'esm',
    });
    const { stdout } = await run(process.execPath, [bundle], { env });
    expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ id: 1 })]);
  });
});
