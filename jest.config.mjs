import preset from './jest.preset.mjs';

/** The checks of the workspace as a whole; each project has its own configuration. */
export default {
  ...preset,
  testMatch: ['<rootDir>/.ci/*.test.ts'],
  // Its package.json has the name of a project.
  modulePathIgnorePatterns: ['<rootDir>/libs/client/dist'],
};
