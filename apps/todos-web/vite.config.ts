import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import preact from '@preact/preset-vite';
import { build, defineConfig, type Plugin } from 'vite';
import { compression } from 'vite-plugin-compression2';

/** Where the todos service listens while the pages come from Vite: `npm run dev` sets it. */
const service = process.env.TODOS_URL ?? 'http://localhost:3001';

export default defineConfig({
  plugins: [preact(), serviceWorker(), compression({ algorithms: ['gzip', 'brotliCompress'], threshold: 512 })],
  build: {
    // No data: URLs, which the Content-Security-Policy of the pages does not allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.txt' },
  },
  server: { proxy: { '/api': service, '/docs': service, '/openapi.json': service } },
});

/** Builds `dist/sw.js` after the pages, whose files it names with their digests. */
function serviceWorker(): Plugin {
  let folder: string;
  return {
    name: 'service-worker',
    apply: 'build',
    configResolved({ root, build: { outDir } }) {
      folder = join(root, outDir);
    },
    async closeBundle() {
      const digest = async (path: string) =>
        `sha256-${createHash('sha256')
          .update(await readFile(join(folder, path)))
          .digest('base64')}`;
      const assets = (await readdir(join(folder, 'assets'))).filter((name) => /\.(js|css)$/.test(name));
      const files = { '/': await digest('index.html') } as Record<string, string>;
      for (const name of assets.sort()) files[`/assets/${name}`] = await digest(join('assets', name));
      await build({
        configFile: false,
        publicDir: false,
        logLevel: 'warn',
        define: { BUILT_FILES: JSON.stringify(files) },
        build: {
          outDir: folder,
          emptyOutDir: false,
          rolldownOptions: { input: 'worker/sw.ts', output: { entryFileNames: 'sw.js' } },
        },
      });
    },
  };
}
