// `nx build` runs this in the folder of a service. `--client FOLDER` adds a built web client as dist/public.
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, type Metafile } from 'esbuild';

const telemetry = join(import.meta.dirname, 'src/observability/telemetry/telemetry.ts');

if (import.meta.main) {
  const { client } = parseArgs({ options: { client: { type: 'string' } } }).values;
  await rm('dist', { recursive: true, force: true });
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  await bundle('src/main.ts', 'dist', version);
  if (client) await cp(client, 'dist/public', { recursive: true });
}

/**
 * Bundles a service: main.js with all that it imports, telemetry.js, which it loads where it is used, and the files that it serves.
 * metafile.json lists the sources of both, licenses.txt their licences.
 * @param main path of main.ts
 * @param version of the service, which its document and its metrics name
 */
export async function bundle(main: string, folder: string, version: string) {
  const { metafile } = await build({
    entryPoints: { main, telemetry },
    outdir: folder,
    bundle: true,
    // Of packages that have ES modules beside their main file, only what is used: telemetry.js is 142 kB shorter.
    mainFields: ['module', 'main'],
    plugins: [
      {
        name: 'telemetry',
        setup: (build) =>
          build.onResolve({ filter: /\/telemetry\.ts$/ }, ({ kind }) =>
            kind === 'dynamic-import' ? { path: './telemetry.js', external: true } : undefined,
          ),
      },
    ],
    platform: 'node',
    // As an ES module it would take longer to start and more memory: Node keeps its source twice, and imports with each of its
    // own modules all that this one offers, such as a client for HTTP.
    format: 'cjs',
    define: {
      'import.meta.dirname': '__dirname',
      'import.meta.url': 'bundleUrl',
      'process.env.SERVICE_VERSION': JSON.stringify(version),
    },
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
  await writeFile(join(folder, 'metafile.json'), JSON.stringify(metafile));
  await writeFile(join(folder, 'licenses.txt'), await licensesOf(metafile));
  // What the app's own says is not true of the bundle.
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'commonjs' }));

  const docs = join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json')), 'static');
  const isServed = (file: string) => file === docs || /\.(css|png)$|-(bundle|preset)\.js$/.test(file);
  await cp(docs, join(folder, 'swagger-ui'), { recursive: true, filter: isServed });

  // Read at the start, see row-counts.ts of libs/database.
  const migrations = join(dirname(createRequire(import.meta.url).resolve('@rest-services/database')), 'migrations');
  for (const file of await readdir(migrations))
    if (file.endsWith('.sql')) await cp(join(migrations, file), join(folder, file));
}

/** The licences of the workspace, of each package in the bundle, and of the page at /docs, which is copied. */
async function licensesOf({ inputs }: Metafile) {
  const folders = Object.keys(inputs).flatMap((file) => /.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  const packages = await Promise.all(Array.from(new Set(folders), licenseOf));
  const own = await readFile(join(import.meta.dirname, '../../LICENSE'), 'utf8');
  const page = await readFile(join(import.meta.dirname, 'swagger-ui-licenses.txt'), 'utf8');
  return [own, ...[...new Set(packages)].sort(), page].join(`\n${'-'.repeat(80)}\n\n`);
}

/** The files with the licence of a package, or else its README, which names it. */
async function licenseOf(folder: string) {
  const { name, version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Record<string, string>;
  const entries = await readdir(folder, { withFileTypes: true });
  const files = (pattern: RegExp) => entries.filter((entry) => entry.isFile() && pattern.test(entry.name));
  const found = files(/^(licen[cs]e|copying|notice)/i);
  const texts = (found.length > 0 ? found : files(/^readme/i)).map((file) => readFile(join(folder, file.name), 'utf8'));
  return [`${name} ${version}\n`, ...(await Promise.all(texts))].join('\n');
}
