/** A calendar date of the years that PostgreSQL and ISO 8601 write alike. JavaScript takes February 30 for a day of March. */
const isDate = (text: string) =>
  /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) && new Date(text).getUTCDate() === Number(text.slice(8));

const TIME = /^T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Date, time and offset as in RFC 3339, which is in the same years in UTC. */
export const isTimestamp = (text: string) =>
  isDate(text.slice(0, 10)) && TIME.test(text.slice(10)) && isDate(new Date(text).toISOString().slice(0, 10));

/** Formats of texts, each with what a message calls it. */
export const formats: Record<string, { isValid: (text: string) => boolean; inWords: string }> = {
  'date-time': { isValid: isTimestamp, inWords: 'a timestamp such as 2026-11-20T18:30:00.000Z' },
  date: { isValid: isDate, inWords: 'a date such as 2026-11-20' },
  uuid: {
    isValid: (text) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
    inWords: 'a UUID such as 8e03978e-40d5-43e8-bc93-6894a57f9324',
  },
};

/** Whether PostgreSQL can hold a text: NUL and half a surrogate pair have no place in its UTF-8. */
export const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

/** Says of a text that PostgreSQL can't hold what is wrong. */
export const UNSTORABLE = 'must not contain NUL or unpaired surrogates';
