import preset from '../../jest.preset.mjs';

/** What other programs make of the OpenAPI documents: .ci/steps/documents */
export default {
  ...preset,
  rootDir: import.meta.dirname,
  testMatch: ['<rootDir>/*.test.ts'],
  globalSetup: '@rest-services/local-postgres/jest-setup',
  globalTeardown: '@rest-services/local-postgres/jest-teardown',
};
