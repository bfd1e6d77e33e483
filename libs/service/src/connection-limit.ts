import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

/** Files that a process has open beside those that callers are waiting for, and its connections. */
const OWN_FILES = 50;

const FEWEST_CONNECTIONS = 10;

const DROPS_LOGGED_EVERY_MS = 1_000;

/**
 * Takes no more connections than there are file descriptors for, so that some are left for the database and for what is sent
 * from disk.
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
