import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OverloadedError, type OverloadReason } from './domain-errors.ts';
import { refusals, statusOf, undone } from './statuses.ts';

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

/** Seconds after which a client may retry under overload. */
const RETRY_AFTER_S = 1;

interface AnyError extends Error {
  /** A SQLSTATE, where PostgreSQL refused the statement. */
  code?: string;
  constraint?: string;
  /** Headers of the response, such as the `Content-Range` of a 416. */
  headers?: Record<string, string>;
}

/** Responds to each error, unknown paths included, with a JSON object that has a `message`. */
export function handleErrors(app: FastifyInstance, errorFormat: ErrorFormat) {
  const overloads = new Map<OverloadReason, number>();
  app.decorate('overloads', overloads);
  app.decorateRequest('overloadReason', undefined);
  app.setErrorHandler((error: AnyError, request, reply) => {
    const reason = overloadReason(error);
    if (reason) overloads.set(reason, (overloads.get(reason) ?? 0) + 1);
    request.overloadReason = reason;
    return handleError(error, request, reply, errorFormat);
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message: 'Not found' }));
}

function overloadReason(error: AnyError) {
  if (error instanceof OverloadedError) return error.reason;
  return error.code === 'ETIMEDOUT' ? 'server' : undone[error.code ?? ''];
}

/** Responds with the message of the error or with a failure and its code. SQL, values and stack traces stand only in the log. */
function handleError(error: AnyError, { log }: FastifyRequest, reply: FastifyReply, errorFormat: ErrorFormat) {
  // The route may have set the type of a page or a file.
  void reply.type('application/json; charset=utf-8');
  const status = statusOf(error);
  const { message, code = 'UNKNOWN', constraint = '', headers = {} } = error;
  if (status >= 400 && status < 500) return reply.code(status).headers(headers).send({ message });
  if (status === 503) {
    const isUndone = code in undone;
    if (isUndone) log.warn({ err: error }, 'statement cancelled by the database');
    const overload = isUndone ? new OverloadedError('statement').message : message;
    return reply.code(503).header('retry-after', RETRY_AFTER_S).send({ message: overload });
  }

  const refusal = errorFormat.constraints && refusals[code];
  if (refusal) {
    log.info({ code, constraint }, 'refused by the database');
    return reply.code(refusal.status).send({ message: errorFormat.constraints?.[constraint] ?? refusal.message });
  }
  log.error({ err: error }, 'request failed');
  return reply.code(500).send({ message: errorFormat.failure, ...(errorFormat.includeCode && { error: { code } }) });
}
