import preset from '../../jest.preset.mjs';

/** What kubectl renders from docker/kubernetes: .ci/steps/kubernetes */
export default {
  ...preset,
  rootDir: import.meta.dirname,
  testMatch: ['<rootDir>/*.test.ts'],
};
