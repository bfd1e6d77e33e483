import underPressure from '@fastify/under-pressure';
import { overloaded } from '@rest-services/errors';
import type { FastifyInstance } from 'fastify';

/** Mean delay of the event loop over a second above which the processor is taken to be overloaded. */
const MAX_EVENT_LOOP_DELAY_MS = 500;

/** Only overload that lasts this long is answered with refusals; a single pause, of the whole machine maybe, is none. */
const LASTING_MS = 2_000;

/** Answers 503 while there is lastingly more to do than the processor can. */
export async function refuseOverload(app: FastifyInstance) {
  await app.register(underPressure, {
    maxEventLoopDelay: MAX_EVENT_LOOP_DELAY_MS,
    pressureHandler: refuseIfItLasts(),
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
