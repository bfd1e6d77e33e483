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
export { handleErrors, HttpError, isOverload, type ErrorFormat } from './error-handler.ts';
