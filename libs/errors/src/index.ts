export { handleErrors, type ErrorWords } from './error-handler.ts';
export { HttpError, isOverload, overloaded } from './http-error.ts';
