/** Native ES modules. Node.js takes the types out of TypeScript files, as it does when it runs them. */
export default {
  testEnvironment: `${import.meta.dirname}/libs/testing/src/jest-environment.mjs`,
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': `${import.meta.dirname}/libs/testing/src/jest-transform.mjs` },
  maxWorkers: 2,
  // For a machine that is busy with something else: a test takes up to 30 s on one that is not.
  testTimeout: 180_000,
  // A busy machine takes longer than Jest's half second to free the memory of a worker whose event loop has ended.
  workerGracefulExitTimeout: 60_000,
};
