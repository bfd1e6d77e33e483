import preact from '@preact/preset-vite';
import { defineConfig } from 'vite';
import { compression } from 'vite-plugin-compression2';

/** Where the todos service listens while the pages come from Vite: `npm run dev` sets it. */
const service = process.env.TODOS_URL ?? 'http://localhost:3001';

export default defineConfig({
  plugins: [preact(), compression({ algorithms: ['gzip', 'brotliCompress'], threshold: 512 })],
  build: {
    // No data: URLs, which the Content-Security-Policy of the pages does not allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.txt' },
  },
  server: { proxy: { '/api': service, '/docs': service, '/openapi.json': service } },
});
