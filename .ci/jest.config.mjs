import preset from '../jest.preset.mjs';

/** The tests of the Nx project ci, and those of the steps: .ci/jest FOLDER */
export default {
  ...preset,
  globalSetup: '@rest-services/local-postgres/jest-setup',
  globalTeardown: '@rest-services/local-postgres/jest-teardown',
};
