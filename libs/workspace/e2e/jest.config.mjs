import preset from '../../../jest.preset.mjs';

export default {
  ...preset,
  testMatch: ['<rootDir>/*.test.ts'],
};
