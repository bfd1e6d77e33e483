import preset from '../../jest.preset.mjs';

export default {
  ...preset,
  globalSetup: '@rest-services/local-postgres/jest-setup',
  globalTeardown: '@rest-services/local-postgres/jest-teardown',
};
