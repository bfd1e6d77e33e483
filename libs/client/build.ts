// `nx build client` makes the types of src/generated from the documents of the services, and the package in dist/, of which
// `npm pack ./dist` needs nothing else of the workspace.
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { generateDtsBundle } from 'dts-bundle-generator';
import { build } from 'esbuild';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';

/** Packages whose code or types are in the bundle, so that an installation needs no other package. */
const BUNDLED = ['openapi-fetch', 'openapi-typescript-helpers'];

for (const folder of ['dist', 'src/generated']) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
}
for await (const document of glob('../../apps/*/openapi.json')) {
  const types = await openapiTS((await readJson(document)) as OpenAPI3);
  await writeFile(`src/generated/${basename(dirname(document))}.ts`, astToString(types));
}

await build({
  entryPoints: ['src/index.ts'],
  outfile: 'dist/index.js',
  bundle: true,
  format: 'esm',
  // What browsers of the last three years know, and Node.js 20.
  target: 'es2022',
  minify: true,
  logLevel: 'warning',
});
const entry = { filePath: 'src/index.ts', libraries: { inlinedLibraries: BUNDLED } };
const output = { exportReferencedTypes: false, noBanner: true };
const [types] = generateDtsBundle([{ ...entry, output }], { preferredConfigPath: '../../tsconfig.base.json' });
await writeFile('dist/index.d.ts', types!);

const { name, version, description, license, type, engines } = (await readJson('package.json')) as Package;
const manifest = {
  ...{ name, version, description, license, type, engines },
  exports: { types: './index.d.ts', default: './index.js' },
  files: ['index.js', 'index.d.ts', 'licenses.txt'],
  sideEffects: false,
};
await writeFile('dist/package.json', `${JSON.stringify(manifest, null, 2)}\n`);
await cp('README.md', 'dist/README.md');
await cp('../../LICENSE', 'dist/LICENSE');
const licenses = await Promise.all(BUNDLED.map((bundled) => describePackage(join('../../node_modules', bundled))));
await writeFile('dist/licenses.txt', licenses.join('\n'));

type Package = Record<'name' | 'version' | 'description' | 'license' | 'type' | 'engines', string>;

async function readJson(file: string) {
  return JSON.parse(await readFile(file, 'utf8')) as unknown;
}

/** Name, version and licence of a package. */
async function describePackage(folder: string) {
  const { name, version } = (await readJson(join(folder, 'package.json'))) as Package;
  return `${name} ${version}\n\n${await readFile(join(folder, 'LICENSE'), 'utf8')}`;
}
