// What `nx build` runs in a service's folder: dist/main.js with everything in it, and the files that it serves beside it.
// `--client FOLDER` adds a built web client as dist/public. dist/metafile.json tells what main.js was made of, dist/licenses.txt
// under which licences.
import { cp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { licensesOf } from './licenses.ts';

const { client } = parseArgs({ options: { client: { type: 'string' } } }).values;

await rm('dist', { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: ['src/main.ts'],
  outfile: 'dist/main.js',
  bundle: true,
  platform: 'node',
  // As an ES module it would take longer to start and more memory: Node keeps its source twice, and imports with each of its
  // own modules all that this one offers, such as a client for HTTP.
  format: 'cjs',
  define: { 'import.meta.dirname': '__dirname', 'import.meta.url': 'bundleUrl' },
  banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
  target: 'node20',
  // Half the size. Names stay as they are, so that a stack trace can be read, and lines short enough to be shown in one.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 200,
  metafile: true,
  // Optional in pg and debug, and not used; the second is there only since tools for development need it.
  external: ['pg-native', 'supports-color'],
  logLevel: 'warning',
});
await writeFile('dist/metafile.json', JSON.stringify(metafile));
await writeFile('dist/licenses.txt', await licensesOf(metafile));
// What the app's own says is not true of the bundle.
await writeFile('dist/package.json', JSON.stringify({ type: 'commonjs' }));

const docs = join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json')), 'static');
const isServed = (file: string) => file === docs || /\.(css|png)$|-(bundle|preset)\.js$/.test(file);
await cp(docs, 'dist/swagger-ui', { recursive: true, filter: isServed });

// Read at the start, see its row-counts.ts.
await cp(
  join(dirname(createRequire(import.meta.url).resolve('@rest-services/database')), 'migrations/row-counts.sql'),
  'dist/row-counts.sql',
);

if (client) await cp(client, 'dist/public', { recursive: true });
