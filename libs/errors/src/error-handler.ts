import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  InvalidInputError,
  NotFoundError,
  OverloadedError,
  PreconditionFailedError,
  ReusedKeyError,
  type OverloadReason,
} from './domain-errors.ts';

/** How the contract of a service reports errors. */
export interface ErrorFormat {
  /** Message of a 500. */
  failure: string;
  /** Whether a 500 carries `error` with a code: a SQLSTATE, the name of a system error, Fastify's, or `UNKNOWN`. */
  includeCode: boolean;
  /** Messages by the name of a violated constraint. Without them, violations are failures. */
  constraints?: Record<string, string>;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Numbers of requests that failed for want of capacity or time, by reason. */
    overloads: ReadonlyMap<OverloadReason, number>;
  }
  interface FastifyRequest {
    /** Why the request failed for want of capacity or time, for its log line. */
    overloadReason: OverloadReason | undefined;
  }
}

/** An error with a status of its own, whose message is meant for the client. */
export class HttpError extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** Responds to each error, unknown paths included, with a JSON object that has a `message`. */
export function handleErrors(app: FastifyInstance, errorFormat: ErrorFormat) {
  const overloads = new Map<OverloadReason, number>();
  app.decorate('overloads', overloads);
  app.decorateRequest('overloadReason', undefined);
  app.setErrorHandler((error, request, reply) => {
    const reason = overloadReason(error);
    if (reason) overloads.set(reason, (overloads.get(reason) ?? 0) + 1);
    request.overloadReason = reason;
    return handleError(error, request, reply, errorFormat);
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message: 'Not found' }));
}

/** Seconds after which a client may retry under overload. */
const RETRY_AFTER_S = 1;

/** SQLSTATEs query_canceled and lock_not_available: PostgreSQL has undone a statement that took too long or waited for a lock. */
const CANCELLED: Record<string, OverloadReason> = { '57014': 'statement', '55P03': 'lock' };

interface AnyError {
  statusCode?: number;
  message: string;
  /** A SQLSTATE, where PostgreSQL refused the statement. */
  code?: string;
  constraint?: string;
  /** Headers of the response, such as the `Content-Range` of a 416. */
  headers?: Record<string, string>;
}

/** Whether the same request may succeed in a moment. */
export const isOverload = (error: unknown) => statusOf(error) === 503;

function overloadReason(error: unknown) {
  if (error instanceof OverloadedError) return error.reason;
  const { code = '' } = error as AnyError;
  return code === 'ETIMEDOUT' ? 'server' : CANCELLED[code];
}

function statusOf(error: unknown) {
  if (error instanceof NotFoundError) return 404;
  if (error instanceof InvalidInputError) return 400;
  if (error instanceof PreconditionFailedError) return 412;
  if (error instanceof ReusedKeyError) return 422;
  const { statusCode, code = '' } = error as AnyError;
  return error instanceof OverloadedError || code in CANCELLED ? 503 : (statusCode ?? 500);
}

/** Responds with the message of the error or with a failure and its code. SQL, values and stack traces stand only in the log. */
function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply, errorFormat: ErrorFormat) {
  // The route may have set the type of a page or a file.
  void reply.type('application/json; charset=utf-8');
  const status = statusOf(error);
  const { message, code = 'UNKNOWN', constraint = '', headers = {} } = error as AnyError;
  if (status >= 400 && status < 500) return reply.code(status).headers(headers).send({ message });
  if (status === 503) {
    const isCancelled = code in CANCELLED;
    if (isCancelled) request.log.warn({ err: error }, 'statement cancelled by the database');
    const overload = isCancelled ? new OverloadedError('statement').message : message;
    return reply.code(503).header('retry-after', RETRY_AFTER_S).send({ message: overload });
  }

  const refusal = errorFormat.constraints && bySqlState[code];
  if (refusal) {
    request.log.info({ code, constraint }, 'refused by the database');
    return reply.code(refusal.status).send({ message: errorFormat.constraints?.[constraint] ?? refusal.message });
  }
  request.log.error({ err: error }, 'request failed');
  return reply.code(500).send({ message: errorFormat.failure, ...(errorFormat.includeCode && { error: { code } }) });
}

/** Responses by the SQLSTATE with which PostgreSQL refuses values of the request. */
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
