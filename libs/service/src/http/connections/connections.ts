import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { finished, Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';

/** Maximum number of open connections: with up to 27 kB each, a fifth of a container of 256 MiB. */
const MAX_CONNECTIONS = 2_000;

type AbortListener = (request: FastifyRequest, reply: FastifyReply) => void;

declare module 'fastify' {
  interface FastifyInstance {
    /** Open connections, each with its response until that has been sent and its request has arrived. */
    connections: Map<Socket, ServerResponse | undefined>;
    /** Called for each request whose connection closes before its response is complete. */
    abortListeners: AbortListener[];
  }
}

/**
 * Knows the open connections and their responses. Fastify runs no `onResponse` for an aborted request, and `onRequestAbort` only until
 * the body has been read.
 */
export const connections = fp(
  (app, _options, done) => {
    const { server } = app;
    const open: FastifyInstance['connections'] = new Map();
    const abortListeners: AbortListener[] = [];
    app.decorate('connections', open).decorate('abortListeners', abortListeners);

    server.maxConnections = MAX_CONNECTIONS;
    server.on('connection', (socket) => {
      // Node.js keeps the address that it has read, and reads none of a connection that is closed, as with the last response.
      Reflect.get(socket, 'remoteAddress');
      open.set(socket, undefined);
      socket.once('close', () => open.delete(socket));
    });
    // Node.js would respond 417 without a body to what it does not know, and a server may ignore it (RFC 9110, 10.1.1).
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    server.on('timeout', (socket: Socket) => cut(app, socket));
    // Without a listener, a connection that the system can't hand over ends the process.
    server.once('listening', () =>
      server.on('error', (error) => app.log.error({ err: error }, 'Cannot accept a connection')),
    );

    app.addHook('onRequest', (request, reply, next) => {
      const { raw } = reply;
      const { socket } = request.raw;
      open.set(socket, raw);
      raw.on('close', () => {
        if (request.raw.complete && open.get(socket) === raw) open.set(socket, undefined);
        if (!raw.writableFinished) abortListeners.forEach((listener) => listener(request, reply));
      });
      next();
    });

    app.addHook('onSend', ({ raw: { socket } }, { raw }, payload, next) => {
      // Before the listener of Fastify, which closes the connection by FIN. A stream that a 304 drops breaks no response.
      if (payload instanceof Readable)
        finished(payload, (error) => error && raw.headersSent && !raw.writableEnded && cut(app, socket));
      next(null, payload);
    });
    done();
  },
  { name: 'connections' },
);

/**
 * Closes a connection, by RST where it cuts off a response: over HTTP/1.0, a client takes the end of the connection for that of the
 * body.
 */
export function cut({ connections }: FastifyInstance, socket: Socket) {
  if (connections.get(socket)?.writableFinished === false) socket.resetAndDestroy();
  else socket.destroy();
}
