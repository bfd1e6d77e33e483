import preset from '../../jest.preset.mjs';

/** Metrics, rules and dashboards, with Debian's promtool and Prometheus, on the built items service: npm run test:observability */
export default {
  ...preset,
  rootDir: import.meta.dirname,
  testMatch: ['<rootDir>/*.test.ts'],
  globalSetup: '@rest-services/local-postgres/jest-setup',
  globalTeardown: '@rest-services/local-postgres/jest-teardown',
};
