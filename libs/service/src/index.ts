export { Message } from './openapi.ts';
export { createService, type Service, type ServiceOptions } from './create-service.ts';
export { runService, type ServiceDefinition } from './run-service.ts';
export { sendRows } from './send-rows.ts';
export { loadSettings, type Settings } from './settings.ts';
export { absentIfBlank, absentIfEmpty, acceptsText, emptyMessage, IdAsText, rowId } from './validation.ts';
