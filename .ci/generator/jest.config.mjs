import preset from '../../jest.preset.mjs';

/** Tests of the generator in a copy of the workspace: npm run test:generator */
export default { ...preset, rootDir: import.meta.dirname, testMatch: ['<rootDir>/*.test.ts'] };
