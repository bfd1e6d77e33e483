export { testDocument, testReadme } from './common-tests.ts';
export { serve, type Answer } from './harness.ts';
export { load, type Outcome } from './load.ts';
export { startProcess } from './process.ts';
export { testOperations } from './operations.ts';
export { refusals, testUnreadableBodies } from './refusals.ts';
