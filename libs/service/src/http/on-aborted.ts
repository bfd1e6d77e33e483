import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

type Listener = (request: FastifyRequest, reply: FastifyReply) => void;

const listenersOf = new WeakMap<FastifyInstance, Listener[]>();

/**
 * Calls `listener` for each request whose connection closes before its response is complete. Fastify does not run `onResponse`
 * for it, and `onRequestAbort` only until the body has been read.
 */
export function onAborted(app: FastifyInstance, listener: Listener) {
  const present = listenersOf.get(app);
  if (present) {
    present.push(listener);
    return;
  }
  const listeners = [listener];
  listenersOf.set(app, listeners);
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.on('close', () => {
      if (!reply.raw.writableFinished) listeners.forEach((each) => each(request, reply));
    });
    done();
  });
}
