import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

type Listener = (request: FastifyRequest, reply: FastifyReply) => void;

declare module 'fastify' {
  interface FastifyInstance {
    /** Called for each request whose connection closes before its response is complete. */
    abortListeners: Listener[];
  }
}

/** Fastify does not run `onResponse` for an aborted request, and `onRequestAbort` only until the body has been read. */
export function reportAborts(app: FastifyInstance) {
  const listeners: Listener[] = [];
  app.decorate('abortListeners', listeners);
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.on('close', () => {
      if (!reply.raw.writableFinished) listeners.forEach((listener) => listener(request, reply));
    });
    done();
  });
}
