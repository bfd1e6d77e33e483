// What `nx build` runs in a service's folder: dist/main.js with everything in it, and the files that it serves beside it.
// `--client FOLDER` adds a built web client as dist/public.
import { cp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { client } = parseArgs({ options: { client: { type: 'string' } } }).values;

await rm('dist', { recursive: true, force: true });
await build({
  entryPoints: ['src/main.ts'],
  outfile: 'dist/main.js',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  // Optional in pg, and not used.
  external: ['pg-native'],
  // Some of what is bundled is CommonJS and expects its surroundings.
  banner: {
    js: [
      "import { createRequire as bundleRequire } from 'node:module';",
      'const require = bundleRequire(import.meta.url);',
      'const __filename = import.meta.filename, __dirname = import.meta.dirname;',
    ].join('\n'),
  },
  logLevel: 'warning',
});

const docs = join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json')), 'static');
const isServed = (file: string) => file === docs || /\.(css|png)$|-(bundle|preset)\.js$/.test(file);
await cp(docs, 'dist/swagger-ui', { recursive: true, filter: isServed });

if (client) await cp(client, 'dist/public', { recursive: true });
