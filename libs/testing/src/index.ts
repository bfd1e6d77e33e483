import { afterAll } from '@jest/globals';
import { started } from './service/process.ts';

export { responseChecker, type OpenApiDocument } from './service/check-response.ts';
export { fetchWhenServed } from './http/fetch-when-served.ts';
export { freeze } from './database/freeze.ts';
export { load, send, type Outcome, type Write } from './http/load.ts';
export { openTestConnection } from './database/open-test-connection.ts';
export { processesOf } from './service/processes.ts';
export { startProcess, type LogLine } from './service/process.ts';
export { refusals } from './http/refusals.ts';
export { sendJson, type JsonResponse } from './http/send-json.ts';
export { startService, type TestService } from './service/start-service.ts';
export { testBodies } from './suites/bodies.ts';
export { testColumns, type ServiceOfTable } from './suites/columns.ts';
export { testConditionalRequests } from './suites/conditional-requests.ts';
export { testDocument } from './suites/document.ts';
export { testIdempotencyKeys, type CreatingService } from './suites/idempotency-key.ts';
export { testOperations, type OperatedService } from './suites/operations.ts';
export { testReadme } from './suites/readme.ts';
export { testRecordedResponses } from './suites/recorded-responses.ts';
export { withMargin } from './with-margin.ts';
export { withRole } from './database/with-role.ts';

// Processes of failed tests are still running: Jest would wait for them forever.
afterAll(() => started.forEach((child) => child.kill('SIGKILL')));
