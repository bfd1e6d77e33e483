// `nx build client` makes the package in dist/: `npm pack ./dist` needs nothing else of the workspace.
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateDtsBundle } from 'dts-bundle-generator';
import { build } from 'esbuild';

/** Packages whose code or types are in the bundle, so that an installation needs no other package. */
const BUNDLED = ['openapi-fetch', 'openapi-typescript-helpers'];

await rm('dist', { recursive: true, force: true });
await mkdir('dist');
// CommonJS for `module: node16`, under which TypeScript lets no such file import an ES module.
for (const [format, outfile] of [
  ['esm', 'dist/index.js'],
  ['cjs', 'dist/index.cjs'],
] as const)
  await build({
    entryPoints: ['src/index.ts'],
    outfile,
    bundle: true,
    format,
    // What browsers of the last three years know, and Node.js 20.
    target: 'es2022',
    minify: true,
    logLevel: 'warning',
  });
const [types] = generateDtsBundle(
  [
    {
      filePath: 'src/index.ts',
      libraries: { inlinedLibraries: BUNDLED },
      output: { exportReferencedTypes: false, noBanner: true },
    },
  ],
  { preferredConfigPath: '../../tsconfig.base.json' },
);
for (const file of ['index.d.ts', 'index.d.cts']) await writeFile(join('dist', file), types!);

const { name, version, description, license, type, engines } = (await readJson('.')) as Record<string, unknown>;
const manifest = {
  ...{ name, version, description, license, type, engines },
  exports: {
    import: { types: './index.d.ts', default: './index.js' },
    require: { types: './index.d.cts', default: './index.cjs' },
  },
  files: ['index.js', 'index.d.ts', 'index.cjs', 'index.d.cts', 'licenses.txt'],
  sideEffects: false,
};
await writeFile('dist/package.json', `${JSON.stringify(manifest, null, 2)}\n`);
await cp('README.md', 'dist/README.md');
await cp('../../LICENSE', 'dist/LICENSE');
const licenses = await Promise.all(BUNDLED.map((bundled) => describePackage(join('../../node_modules', bundled))));
await writeFile('dist/licenses.txt', licenses.join('\n'));

async function readJson(folder: string) {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as unknown;
}

/** Name, version and licence of a package. */
async function describePackage(folder: string) {
  const { name, version } = (await readJson(folder)) as { name: string; version: string };
  return `${name} ${version}\n\n${await readFile(join(folder, 'LICENSE'), 'utf8')}`;
}
