import { readFileSync } from 'node:fs';
import underPressure from '@fastify/under-pressure';
import { overloaded } from '@rest-services/errors';
import type { FastifyInstance } from 'fastify';

/** Above it, as a mean of one second, more requests arrive than the processor can do. */
const MAX_EVENT_LOOP_DELAY_MS = 500;

/** Only overload that lasts this long is answered with refusals; a single pause, of the whole machine maybe, is none. */
const LASTING_MS = 2_000;

/** Files that a process has open beside those that callers are waiting for, and its connections. */
const OWN_FILES = 50;

const FEWEST_CONNECTIONS = 10;

const DROPS_LOGGED_EVERY_MS = 1_000;

/**
 * Answers 503 while there is lastingly more to do than the processor can, and takes no more connections than there are file
 * descriptors for, so that some are left for the database and for what is sent from disk.
 * @param poolMax connections to the database
 */
export async function refuseOverload(app: FastifyInstance, poolMax: number) {
  const limit = openFilesLimit();
  if (limit) {
    app.server.maxConnections = Math.max(FEWEST_CONNECTIONS, Math.floor((limit - poolMax - OWN_FILES) / 2));
    logDrops(app);
  }
  await app.register(underPressure, {
    maxEventLoopDelay: MAX_EVENT_LOOP_DELAY_MS,
    pressureHandler: refuseIfItLasts(),
  });
}

/** Whoever is dropped learns nothing, so that an operator should. */
function logDrops(app: FastifyInstance) {
  let loggedAt = -Infinity;
  app.server.on('drop', () => {
    const now = performance.now();
    if (now - loggedAt < DROPS_LOGGED_EVERY_MS) return;
    loggedAt = now;
    const { maxConnections } = app.server;
    app.log.warn({ maxConnections }, 'dropping new connections: as many are open as there are file descriptors for');
  });
}

/** @returns what is called for each request that arrives while the event loop is late */
function refuseIfItLasts() {
  let [since, last] = [0, 0];
  return () => {
    const now = performance.now();
    if (now - last > LASTING_MS) since = now;
    last = now;
    return now - since > LASTING_MS ? Promise.reject(overloaded()) : undefined;
  };
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
