import { once } from 'node:events';
import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fp from 'fastify-plugin';
import { cut } from './connections.ts';

/** Delay before idle connections are closed, because a request may be on its way. */
const LINGER_MS = 500;

/** Delay between the signal and the close of in-flight requests, which leaves the pool time to end within 10 s. */
const ABORT_AFTER_MS = 7_500;

/**
 * Makes `app.close()` lose no request. Closes the port first; requests in flight and on open connections get a response with
 * `Connection: close`, and idle connections are closed after 500 ms. `delayMs` is the time between the signal and the close, 5 s at most.
 */
export const drain = fp<{ delayMs: number }>(
  (app, { delayMs }, done) => {
    const { connections, server } = app;
    let isClosing = false;
    app.addHook('onSend', (_request, reply, payload, next) => {
      if (isClosing) void reply.header('connection', 'close');
      next(null, payload);
    });
    app.addHook('preClose', async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      // The close() of an HTTP server closes idle connections at once, and loses requests on their way.
      Server.prototype.close.call(server);
      isClosing = true;
      await Promise.race([closed, sleep(LINGER_MS, undefined, { ref: false })]);

      // Connections that become idle later would stay open until their keep-alive timeout.
      const sweep = setInterval(() => {
        server.closeIdleConnections();
        for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
      }, 50);
      const cutAll = () => connections.forEach((_, socket) => cut(app, socket));
      const abort = setTimeout(cutAll, ABORT_AFTER_MS - delayMs - LINGER_MS);
      // The server does not wait for the log lines of closed requests.
      await Promise.all(Array.from(connections.keys(), (socket) => new Promise((end) => socket.once('close', end))));
      clearInterval(sweep);
      clearTimeout(abort);
    });
    done();
  },
  { name: 'drain', dependencies: ['connections'] },
);
