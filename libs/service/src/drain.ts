import { once } from 'node:events';
import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** How long an idle connection is kept when the service closes: a request may be on its way. */
const LINGER_MS = 500;

/** What has not ended by then is cut, so that a process is gone 10 s after its signal, the longest delay included. */
const CUT_AFTER_MS = 1_500;

/**
 * Makes `app.close()` lose no request. The port is closed first. Requests that are under way or arrive on an open
 * connection are answered with `Connection: close`, idle connections are closed after a moment, and connections on which
 * nothing ends are cut.
 */
export function drainOnClose(app: FastifyInstance) {
  const { server } = app;
  app.addHook('preClose', async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    // The close() of an HTTP server would cut idle connections at once, with whatever is on its way there.
    Server.prototype.close.call(server);
    await Promise.race([closed, sleep(LINGER_MS, undefined, { ref: false })]);

    // A connection that becomes idle later would otherwise be waited for until its keep-alive time is over.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    const cut = setTimeout(() => server.closeAllConnections(), CUT_AFTER_MS);
    void closed.then(() => {
      clearInterval(sweep);
      clearTimeout(cut);
    });
  });
}
