export { createService } from './create-service.ts';
export { Id, Message, Timestamp } from './schemas.ts';
export { webPageHeaders } from './security-headers.ts';
export { sendRows } from './send-rows.ts';
export { type Settings } from './settings.ts';
export { acceptForms } from './url-encoded.ts';
export { absentIfBlank, absentIfEmpty, acceptsText, emptyMessage, IdAsText, rowId } from './validation.ts';
