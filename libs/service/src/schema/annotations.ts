/** Annotation for a body property: a string with nothing but white space in it counts as not sent. */
export const absentIfBlank = { 'x-absent-if': 'blank' };

/** Annotation for a body property: the empty string counts as not sent. */
export const absentIfEmpty = { 'x-absent-if': 'empty' };

/** Annotation for a number or a boolean: its text is accepted, too, because URL-encoded bodies have only texts. */
export const acceptsText = { 'x-accepts-text': true };

/** Annotation for a string: the message of the contract when it is missing or blank. */
export const emptyMessage = (message: string) => ({ 'x-empty-message': message });

/** Annotation for a value of which the document says more, or less, than the service checks: these keywords are the document's. */
export const documentedAs = (keywords: object) => ({ 'x-documented-as': keywords });

/** Annotation for an integer in a path: the handler gets its digits as the client has written them. */
export const asText = { 'x-as-text': true };

/** Keywords that are not in the document, because they have no meaning outside the service. */
export const INTERNAL_KEYWORDS = ['x-absent-if', 'x-accepts-text', 'x-as-text', 'x-documented-as', 'x-empty-message'];
