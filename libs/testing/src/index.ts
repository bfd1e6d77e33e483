import { afterAll } from '@jest/globals';
import { started } from './service/process.ts';

export { responseChecker } from './service/check-response.ts';
export { type OpenApiDocument } from './service/document.ts';
export { load, send, type Outcome, type Write } from './http/load.ts';
export { openTestConnection } from './database/open-test-connection.ts';
export { processesOf, startShared } from './service/processes.ts';
export { startProcess, type LogLine } from './service/process.ts';
export { sendJson } from './http/send-json.ts';
export { startService, type TestService } from './service/start-service.ts';
export { testColumnValues } from './suites/column-values.ts';
export { testSharedParts } from './suites/shared-parts.ts';
export { createMigratedDatabase } from './database/migrated-database.ts';
export { openResponseHolder } from './database/response-holder.ts';
export { withMargin } from './with-margin.ts';
export { withRole } from './database/with-role.ts';

// Processes of failed tests are still running: Jest would wait for them forever.
const endProcesses = () => started.forEach((child) => child.kill('SIGKILL'));
afterAll(endProcesses);
// For jest-environment.mjs.
Object.assign(globalThis, { endProcesses });
