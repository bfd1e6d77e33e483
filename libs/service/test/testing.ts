import { afterAll } from '@jest/globals';
import { started } from './process.ts';

export { testDocument, testReadme } from './common-tests.ts';
export { hang } from './hang.ts';
export { serve, type Answer } from './harness.ts';
export { load, send, type Outcome, type Write } from './load.ts';
export { patientDatabase } from './patient-database.ts';
export { startProcess, type LogLine } from './process.ts';
export { testOperations } from './operations.ts';
export { refusals, testUnreadableBodies } from './refusals.ts';
export { withRole } from './role.ts';

// Those of a test that has failed: Jest would wait for them forever.
afterAll(() => started.forEach((child) => child.kill('SIGKILL')));
