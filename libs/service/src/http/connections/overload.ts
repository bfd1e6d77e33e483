import { monitorEventLoopDelay } from 'node:perf_hooks';
import { OverloadedError } from '@rest-services/errors';
import fp from 'fastify-plugin';

/** Interval at which the delay of the event loop is measured. */
const RESOLUTION_MS = 10;

/** Time over which the mean is taken. */
const PERIOD_MS = 1_000;

/** Maximum mean delay of the event loop. */
const MAX_EVENT_LOOP_DELAY_MS = 500;

/** Number of slow periods in a row after which requests get 503, because a single pause may be that of the whole machine. */
const MIN_SLOW_PERIODS = 3;

/**
 * Responds 503 while an overload of the CPU lasts. Pages of other origins may read that. @fastify/under-pressure would end the process
 * where no file descriptor is left, because it asks for the memory in use.
 */
export const overload = fp(
  (app, _options, done) => {
    const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delays.enable();
    let slowPeriods = 0;
    const timer = setInterval(() => {
      // Not a number when it has not been measured once.
      const isCalm = delays.mean / 1e6 - RESOLUTION_MS < MAX_EVENT_LOOP_DELAY_MS;
      slowPeriods = isCalm ? 0 : slowPeriods + 1;
      delays.reset();
    }, PERIOD_MS).unref();
    app.server.once('close', () => clearInterval(timer));
    app.addHook('onRequest', ({ routeOptions }, _reply, next) => {
      const isLasting = slowPeriods >= MIN_SLOW_PERIODS;
      next(isLasting && !routeOptions.config.isForMachines ? new OverloadedError('cpu') : undefined);
    });
    done();
  },
  { name: 'overload', dependencies: ['cross-origin'] },
);
