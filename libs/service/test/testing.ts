export { testDocument, testReadme } from './common-tests.ts';
export { hang } from './hang.ts';
export { serve, type Answer } from './harness.ts';
export { load, send, type Outcome, type Write } from './load.ts';
export { startProcess, type LogLine } from './process.ts';
export { testOperations } from './operations.ts';
export { refusals, testUnreadableBodies } from './refusals.ts';
