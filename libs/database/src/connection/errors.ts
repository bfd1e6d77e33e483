import { errorCode, SQLSTATE } from '@rest-services/errors';

/**
 * Gives an error of the driver, which has no code, the code of its cause: a refused login, no response in time, or a lost connection.
 * @returns the same error
 */
export function withErrorCode(error: unknown) {
  const failure = error as Error & { code?: string };
  failure.code ??= codeOfMessage(failure.message);
  return failure;
}

function codeOfMessage(message: string) {
  // The server asks for a password that is not given, or does not speak TLS.
  if (message.startsWith('SASL') || message.includes('SSL connection'))
    return SQLSTATE.INVALID_AUTHORIZATION_SPECIFICATION;
  return message.includes('timeout') ? 'ETIMEDOUT' : 'ECONNRESET';
}

/** Whether pg's pool had no free connection in time, or a new one was not ready in time. */
export const isPoolTimeout = (error: unknown) =>
  /timeout exceeded|connection timeout|timeout expired/.test((error as Error).message);

/** Whether the server takes no writes. */
export const isReadOnlyError = (error: unknown) => errorCode(error) === SQLSTATE.READ_ONLY_SQL_TRANSACTION;

/**
 * Whether a statement may have failed because its preparation is out of date: a row has another type (0A000), a column has gone or has
 * another type (42703, 42804), or the session has forgotten the statement (26000).
 */
export const isOfPreparation = (error: unknown) => /^(0A000|42|26000)/.test(errorCode(error));

/** Whether the server did not respond in time. */
export const isTimeout = (error: unknown) => errorCode(error) === 'ETIMEDOUT';

/** The error of a statement without a response in time, which may have taken effect. */
export const noResponse = () =>
  Object.assign(new Error('The server did not respond in time; whether the statement took effect is not known'), {
    code: 'ETIMEDOUT',
  });
