import preset from '../../jest.preset.mjs';

/** Traces the targets that Nx caches, with Debian's strace: npm run test:inputs */
export default { ...preset, rootDir: import.meta.dirname, testMatch: ['<rootDir>/*.test.ts'], testTimeout: 600_000 };
