import preset from '../../jest.preset.mjs';

/** Tests with Debian's haproxy, pgbouncer, PostgreSQL and Patroni, on the built services: npm run test:system */
export default {
  ...preset,
  rootDir: import.meta.dirname,
  testMatch: ['<rootDir>/*.test.ts'],
  globalSetup: '@rest-services/local-postgres/jest-setup',
  globalTeardown: '@rest-services/local-postgres/jest-teardown',
};
