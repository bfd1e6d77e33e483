export { createIfMatch, refuseTags } from './http/headers/if-match.ts';
export { createService } from './create-service.ts';
export { columnsOf, Id, Message, Timestamp } from './schema/schemas.ts';
export { IdempotencyHeaders, idempotencyKeyOf, KeyReused } from './http/headers/idempotency-key.ts';
export { locationOf } from './http/headers/methods.ts';
export { webPageHeaders } from './http/headers/security-headers.ts';
export { sendList } from './http/bodies/send-list.ts';
export { type Settings } from './settings.ts';
export { acceptForms } from './http/bodies/forms.ts';
export {
  absentIfBlank,
  absentIfEmpty,
  acceptsText,
  documentedAs,
  emptyMessage,
  parseId,
  PathId,
  RawId,
} from './schema/validation.ts';
