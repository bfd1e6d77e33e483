export {
  InvalidInputError,
  NotFoundError,
  overloaded,
  OverloadedError,
  PreconditionFailedError,
  ReusedKeyError,
} from './domain-errors.ts';
export { handleErrors, isOverload, type ErrorFormat } from './error-handler.ts';
export { HttpError } from './http-error.ts';
