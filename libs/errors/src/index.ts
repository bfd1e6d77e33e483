export { handleErrors, type ErrorWords } from './error-handler.ts';
export { HttpError, overloaded } from './http-error.ts';
