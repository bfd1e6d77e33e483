export {
  InvalidInputError,
  NotFoundError,
  overloaded,
  OverloadedError,
  PreconditionFailedError,
  ReusedKeyError,
  SHED_REASONS,
  TIMEOUT_REASONS,
  type OverloadReason,
} from './domain-errors.ts';
export { handleErrors, isOverload, type ErrorFormat } from './error-handler.ts';
export { HttpError } from './http-error.ts';
