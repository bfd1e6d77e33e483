import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

/** File descriptors kept for the process itself: its log, event loop, listening socket and the files that it reads. */
const OWN_FILES = 50;

const FEWEST_CONNECTIONS = 10;

const DROPS_LOGGED_EVERY_MS = 1_000;

/**
 * Limits connections to half of the file descriptors that the database's and the process's own leave, since the answer to
 * each may open a file too. Does nothing where the limit is not known, as on macOS.
 * @param poolMax connections to the database
 */
export function limitConnections(app: FastifyInstance, poolMax: number) {
  const limit = openFilesLimit();
  if (!limit) return;
  const maxConnections = Math.max(FEWEST_CONNECTIONS, Math.floor((limit - poolMax - OWN_FILES) / 2));
  app.server.maxConnections = maxConnections;

  // Whoever is dropped learns nothing, so that an operator should.
  let loggedAt = -Infinity;
  app.server.on('drop', () => {
    const now = performance.now();
    if (now - loggedAt < DROPS_LOGGED_EVERY_MS) return;
    loggedAt = now;
    app.log.warn({ maxConnections }, 'dropping new connections: as many are open as there are file descriptors for');
  });
}

/** How many a process may have open, connections included; `undefined` where that is not to be found out. */
function openFilesLimit() {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}
