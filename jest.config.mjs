import preset from './jest.preset.mjs';

/** The checks of the workspace as a whole; each project has its own configuration. */
export default {
  ...preset,
  testMatch: ['<rootDir>/.ci/*.test.ts'],
  // The package.json of the built client, also in Nx's cache, has the name of a project.
  modulePathIgnorePatterns: ['<rootDir>/libs/client/dist', '<rootDir>/.nx'],
};
