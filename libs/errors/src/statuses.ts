import {
  InvalidInputError,
  NotFoundError,
  OverloadedError,
  PreconditionFailedError,
  ReusedKeyError,
  type OverloadReason,
} from './domain-errors.ts';
import { errorCode, SQLSTATE } from './sqlstate.ts';

/** An error with a status of its own, whose message is meant for the client. */
export class HttpError extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

const statuses = new Map<unknown, number>([
  [InvalidInputError, 400],
  [NotFoundError, 404],
  [PreconditionFailedError, 412],
  [ReusedKeyError, 422],
  [OverloadedError, 503],
]);

/** Responses by the SQLSTATE with which PostgreSQL refuses values of the request. */
export const refusals: Record<string, { status: number; message: string }> = {
  [SQLSTATE.UNIQUE_VIOLATION]: { status: 409, message: 'Such a record exists already' },
  [SQLSTATE.NOT_NULL_VIOLATION]: { status: 400, message: 'A required value is missing' },
  [SQLSTATE.CHECK_VIOLATION]: { status: 400, message: 'A value is not allowed' },
  [SQLSTATE.STRING_DATA_RIGHT_TRUNCATION]: { status: 400, message: 'A text is too long' },
  [SQLSTATE.NUMERIC_VALUE_OUT_OF_RANGE]: { status: 400, message: 'A number is out of range' },
  [SQLSTATE.CHARACTER_NOT_IN_REPERTOIRE]: { status: 400, message: 'A text contains what cannot be stored' },
  [SQLSTATE.UNTRANSLATABLE_CHARACTER]: { status: 400, message: 'A text contains what cannot be stored' },
  [SQLSTATE.INVALID_TEXT_REPRESENTATION]: { status: 400, message: 'A value has the wrong form' },
};

/** Reasons of a 503 by the SQLSTATE with which PostgreSQL has undone a statement that may succeed in a moment. */
export const undone: Record<string, OverloadReason> = {
  [SQLSTATE.QUERY_CANCELED]: 'statement',
  [SQLSTATE.LOCK_NOT_AVAILABLE]: 'lock',
  [SQLSTATE.DEADLOCK_DETECTED]: 'lock',
  [SQLSTATE.SERIALIZATION_FAILURE]: 'lock',
};

/** The status of an error, 500 for unknown ones and for refusals, which are failures in some contracts. */
export function statusOf(error: unknown) {
  const { constructor, statusCode = 500 } = error as Error & { statusCode?: number };
  return statuses.get(constructor) ?? (errorCode(error) in undone ? 503 : statusCode);
}

/** Whether the same request may succeed in a moment. */
export const isOverload = (error: unknown) => statusOf(error) === 503;
