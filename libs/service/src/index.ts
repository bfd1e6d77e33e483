export { createIfMatch, refuseTags } from './http/if-match.ts';
export { createService } from './create-service.ts';
export { columnsOf, Id, Message, Timestamp } from './schema/schemas.ts';
export { IdempotencyHeaders, idempotencyKeyOf, KeyReused } from './http/idempotency-key.ts';
export { locationOf } from './http/methods.ts';
export { webPageHeaders } from './http/security-headers.ts';
export { sendList } from './http/send-list.ts';
export { type Settings } from './settings.ts';
export { acceptForms } from './http/forms.ts';
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
