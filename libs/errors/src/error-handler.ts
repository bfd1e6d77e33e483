import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isOverload, overloaded } from './http-error.ts';

/** The words in which a service's contract reports what went wrong. */
export interface ErrorWords {
  /** Message of a 500. */
  failure: string;
  /** Whether a 500 carries `error` with a code: a SQLSTATE, the name of a system error, Fastify's, or `UNKNOWN`. */
  withCode: boolean;
  /**
   * Where the contract leaves broken storage constraints to a common handler: the message for each, by the name of the
   * constraint. Without it, all of them are failures.
   */
  constraints?: Record<string, string>;
}

/** Makes every answer that is no success a JSON object with a `message`, unknown paths included. */
export function handleErrors(app: FastifyInstance, words: ErrorWords) {
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, words));
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message: 'Not found' }));
}

/** When a service that has too much to do may be asked again. */
const RETRY_AFTER_S = 1;

interface AnyError {
  statusCode?: number;
  message: string;
  /** A SQLSTATE, where PostgreSQL refused the statement. */
  code?: string;
  constraint?: string;
}

/**
 * The caller learns what it did wrong, or that the service failed and under which code; the log gets the error itself.
 * No answer holds SQL, values, host names or a stack trace.
 */
function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, words: ErrorWords) {
  // A page or a file may have been about to be sent.
  void reply.type('application/json; charset=utf-8');
  const { statusCode = 500, message, code = 'UNKNOWN', constraint = '' } = error as AnyError;
  if (statusCode >= 400 && statusCode < 500) return reply.code(statusCode).send({ message });
  if (isOverload(error)) {
    const isCancelled = statusCode !== 503;
    if (isCancelled) request.log.warn({ err: error }, 'statement cancelled by the database');
    return reply
      .code(503)
      .header('retry-after', RETRY_AFTER_S)
      .send({ message: isCancelled ? overloaded().message : message });
  }

  const refusal = words.constraints && bySqlState[code];
  if (refusal) {
    request.log.info({ code, constraint }, 'refused by the database');
    return reply.code(refusal.status).send({ message: words.constraints?.[constraint] ?? refusal.message });
  }
  request.log.error({ err: error }, 'request failed');
  return reply.code(500).send({ message: words.failure, ...(words.withCode ? { error: { code } } : {}) });
}

/** What PostgreSQL refuses because of what was sent. */
const bySqlState: Record<string, { status: number; message: string }> = {
  '23505': { status: 409, message: 'Such a record exists already' },
  '23502': { status: 400, message: 'A required value is missing' },
  '23514': { status: 400, message: 'A value is not allowed' },
  '22001': { status: 400, message: 'A text is too long' },
  '22003': { status: 400, message: 'A number is out of range' },
  '22021': { status: 400, message: 'A text contains what cannot be stored' },
  '22P05': { status: 400, message: 'A text contains what cannot be stored' },
  '22P02': { status: 400, message: 'A value has the wrong form' },
};
