import { afterAll } from '@jest/globals';
import { started } from './process.ts';

export { responseChecker, type OpenApiDocument } from './check-response.ts';
export { fetchWhenServed } from './fetch-when-served.ts';
export { freeze } from './freeze.ts';
export { load, send, type Outcome, type Write } from './load.ts';
export { openTestConnection } from './open-test-connection.ts';
export { startProcess, type LogLine } from './process.ts';
export { refusals } from './refusals.ts';
export { sendJson, type JsonResponse } from './send-json.ts';
export { startService, type TestService } from './start-service.ts';
export { testBodies } from './suites/bodies.ts';
export { testDocument } from './suites/document.ts';
export { testOperations, type OperatedService } from './suites/operations.ts';
export { testReadme } from './suites/readme.ts';
export { withRole } from './with-role.ts';

// Processes of failed tests are still running: Jest would wait for them forever.
afterAll(() => started.forEach((child) => child.kill('SIGKILL')));
