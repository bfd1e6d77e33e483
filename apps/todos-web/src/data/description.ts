import type { Todo } from './api.ts';

/** What a form shows of a todo. A new one is open; only one that exists can be marked as done. */
export type Values = Pick<Todo, 'description'> & Partial<Pick<Todo, 'isCompleted'>>;

/** Where the service refuses a description, in Unicode code points. */
export const DESCRIPTION_LIMIT = 255;

export const TOO_LONG = `This is too long: ${DESCRIPTION_LIMIT} characters fit.`;

/** How many characters fit in, after those of a description. */
export const remainingOf = (description: string) => DESCRIPTION_LIMIT - Array.from(description).length;
