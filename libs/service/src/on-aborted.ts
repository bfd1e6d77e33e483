import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * Calls `listener` for each request whose connection is closed before its answer is complete, by the caller or because
 * a list broke off. Fastify runs `onResponse` for none of them, and `onRequestAbort` only until the body has been read.
 */
export function onAborted(app: FastifyInstance, listener: (request: FastifyRequest, reply: FastifyReply) => void) {
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) listener(request, reply);
    });
    done();
  });
}
