/** Native ES modules; only the types are taken out of TypeScript files. */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': [
      'babel-jest',
      { babelrc: false, configFile: false, presets: [['@babel/preset-typescript', { onlyRemoveTypeImports: true }]] },
    ],
  },
  maxWorkers: 2,
  // For a machine that is busy with something else: a test takes up to 30 s on one that is not.
  testTimeout: 180_000,
};
