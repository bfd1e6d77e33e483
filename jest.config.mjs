import preset from './jest.preset.mjs';

/** The checks of the workspace as a whole; each project has its own configuration. */
export default { ...preset, testMatch: ['<rootDir>/.ci/*.test.ts'] };
