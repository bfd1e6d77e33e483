import preset from '../../jest.preset.mjs';

export default {
  ...preset,
  testMatch: ['<rootDir>/**/*.test.ts'],
  globalSetup: '@rest-services/local-postgres/jest-setup',
  globalTeardown: '@rest-services/local-postgres/jest-teardown',
};
