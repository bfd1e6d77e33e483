import preset from '../jest.preset.mjs';

/** For tests of a step in its folder, with a PostgreSQL. */
export const withPostgres = {
  ...preset,
  testMatch: ['<rootDir>/*.test.ts'],
  globalSetup: '@rest-services/local-postgres/jest-setup',
  globalTeardown: '@rest-services/local-postgres/jest-teardown',
};
