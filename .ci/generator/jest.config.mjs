import preset from '../../jest.preset.mjs';

/** Tests of the generator in a copy of the workspace: npm run test:generator */
export default {
  ...preset,
  // One test builds and tests a whole service, in three minutes on two CPUs.
  testTimeout: 900_000,
  rootDir: import.meta.dirname,
  testMatch: ['<rootDir>/*.test.ts'],
};
