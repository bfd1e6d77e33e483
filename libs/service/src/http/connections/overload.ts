import underPressure from '@fastify/under-pressure';
import { OverloadedError } from '@rest-services/errors';
import fp from 'fastify-plugin';

/** Maximum mean delay of the event loop over a second. */
const MAX_EVENT_LOOP_DELAY_MS = 500;

/** Time that the overload has to last before requests get 503, because a single pause may be that of the whole machine. */
const LASTING_MS = 2_000;

/** Responds 503 while an overload of the CPU lasts. Pages of other origins may read that. */
export const overload = fp(
  async (app) => {
    await app.register(underPressure, {
      maxEventLoopDelay: MAX_EVENT_LOOP_DELAY_MS,
      pressureHandler: refuseIfItLasts(),
    });
  },
  { name: 'overload', dependencies: ['cross-origin'] },
);

/** @returns a handler of requests that arrive while the event loop is late */
function refuseIfItLasts() {
  let [since, last] = [0, 0];
  return () => {
    const now = performance.now();
    if (now - last > LASTING_MS) since = now;
    last = now;
    return now - since > LASTING_MS ? Promise.reject(new OverloadedError('cpu')) : undefined;
  };
}
