import preset from '../../jest.preset.mjs';

export default {
  ...preset,
  globalSetup: './test/notes/jest-setup.ts',
  globalTeardown: './test/notes/jest-teardown.ts',
};
