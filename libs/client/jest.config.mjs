import preset from '../../jest.preset.mjs';

export default {
  ...preset,
  // Its package.json has the name of this project.
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  globalSetup: '@rest-services/local-postgres/jest-setup',
  globalTeardown: '@rest-services/local-postgres/jest-teardown',
};
