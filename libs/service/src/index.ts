export { createService, type Service, type ServiceOptions } from './create-service.ts';
export { runService, type ServiceDefinition } from './run-service.ts';
export { Id, Message, Timestamp } from './schemas.ts';
export { sendRows } from './send-rows.ts';
export { loadSettings, type Settings } from './settings.ts';
export { absentIfBlank, absentIfEmpty, acceptsText, emptyMessage, IdAsText, rowId } from './validation.ts';
