import preset from '../../jest.preset.mjs';

export default {
  ...preset,
  // Its package.json has the name of this project.
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  globalSetup: '@rest-services/testing/browser-setup',
  globalTeardown: '@rest-services/testing/browser-teardown',
};
