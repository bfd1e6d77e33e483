export { createService } from './create-service.ts';
export { Id, Message, Timestamp } from './schemas.ts';
export { webPageHeaders } from './security-headers.ts';
export { sendList } from './send-list.ts';
export { type Settings } from './settings.ts';
export { acceptForms } from './url-encoded.ts';
export { absentIfBlank, absentIfEmpty, acceptsText, emptyMessage, parseId, RawId } from './validation.ts';
