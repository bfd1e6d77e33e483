import preset from '../../jest.preset.mjs';

export default {
  ...preset,
  globalSetup: './test/browser/jest-setup.ts',
  globalTeardown: './test/browser/jest-teardown.ts',
};
