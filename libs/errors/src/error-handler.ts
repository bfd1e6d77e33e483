import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The words in which a service's contract reports what went wrong. */
export interface ErrorWords {
  /** Message of a 500. */
  failure: string;
}

/** Makes every answer that is no success a JSON object with a `message`, unknown paths included. */
export function handleErrors(app: FastifyInstance, words: ErrorWords) {
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, words));
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message: 'Not found' }));
}

/**
 * The caller learns what it did wrong, or that the service failed and under which code; the log gets the error itself.
 * The code is a SQLSTATE or a system error name: never SQL, values, host names or a stack trace.
 */
function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, words: ErrorWords) {
  const { statusCode = 500, message, code } = error as { statusCode?: number; message: string; code?: string };
  if (statusCode >= 400 && statusCode < 500) return reply.code(statusCode).send({ message });

  request.log.error({ err: error }, 'request failed');
  return reply.code(500).send({ message: words.failure, error: { code: code ?? 'UNKNOWN' } });
}
