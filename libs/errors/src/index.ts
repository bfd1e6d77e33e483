export {
  InvalidInputError,
  NotFoundError,
  OverloadedError,
  PreconditionFailedError,
  ReusedKeyError,
  SHED_REASONS,
  TIMEOUT_REASONS,
  type OverloadReason,
} from './domain-errors.ts';
export { handleErrors, type ErrorFormat } from './error-handler.ts';
export { HttpError, isOverload } from './statuses.ts';
export { errorClass, errorCode, SQLSTATE, SQLSTATE_CLASS } from './sqlstate.ts';
