import preset from '../../../jest.preset.mjs';

export default {
  ...preset,
  globalSetup: '@rest-services/testing/browser-setup',
  globalTeardown: '@rest-services/testing/browser-teardown',
  testMatch: ['<rootDir>/*.test.ts'],
};
