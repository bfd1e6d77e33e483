import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { FastifyInstance } from 'fastify';

/** File descriptors left for the process itself: its log, event loop, listening socket and the files that it reads. */
const OWN_FILES = 50;

/** Memory of a connection with a request: 14 to 27 kB, measured with 4,000 connections and up to 15 kB of headers each. */
const CONNECTION_BYTES = 32 * 1_024;

/** Part of the memory that connections may take. Node.js itself takes another third of 256 MiB, and bodies take an eighth. */
const CONNECTIONS_SHARE = 1 / 4;

const FEWEST_CONNECTIONS = 10;

const DROPS_LOGGED_EVERY_MS = 1_000;

/**
 * Limits connections by memory and by half of the file descriptors that the database and the process leave, because each response
 * may open a file.
 * @param poolMax connections to the database
 */
export function limitConnections(app: FastifyInstance, poolMax: number) {
  const byMemory = (memoryLimit() * CONNECTIONS_SHARE) / CONNECTION_BYTES;
  const byFiles = (openFilesLimit() - poolMax - OWN_FILES) / 2;
  const maxConnections = Math.max(FEWEST_CONNECTIONS, Math.floor(Math.min(byMemory, byFiles)));
  app.server.maxConnections = maxConnections;

  // The log tells the operator, because a dropped client gets no response.
  let loggedAt = -Infinity;
  app.server.on('drop', () => {
    const now = performance.now();
    if (now - loggedAt < DROPS_LOGGED_EVERY_MS) return;
    loggedAt = now;
    app.log.warn({ maxConnections }, 'dropping new connections: as many are open as file descriptors and memory allow');
  });
}

/** Memory of the container in bytes, or of the machine where that is less. */
export function memoryLimit() {
  // Node.js returns 0 where it knows of no limit.
  return Math.min(process.constrainedMemory() || Infinity, totalmem());
}

/** Maximum number of files that the process may have open, connections included; infinite where it is not known, as on macOS. */
function openFilesLimit() {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? Infinity : Number(limit);
  } catch {
    return Infinity;
  }
}
