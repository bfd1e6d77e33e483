export { handleErrors, type ErrorWords } from './error-handler.ts';
export { HttpError } from './http-error.ts';
