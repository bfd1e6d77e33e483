import cors from '@fastify/cors';
import fp from 'fastify-plugin';
import type { Settings } from '../../settings.ts';
import { CONTRACT_METHODS } from './methods.ts';

/** Time for which browsers may keep the response to a preflight: the maximum of Chromium. */
const PREFLIGHT_MAX_AGE_S = 7_200;

type Options = Pick<Settings, 'CORS_ORIGIN' | 'NODE_ENV'>;

/** Lets pages of other origins in a browser use the service, and read refusals, too. */
export const crossOrigin = fp<Options>(
  async (app, settings) => {
    const origin = allowedOrigins(settings);
    if (!origin) return;
    await app.register(cors, {
      origin,
      methods: [...CONTRACT_METHODS],
      maxAge: PREFLIGHT_MAX_AGE_S,
      // Headers that a page in a browser may read.
      exposedHeaders: ['etag', 'link', 'location', 'x-total-count', 'x-request-id', 'retry-after'],
      strictPreflight: false,
      // Its own response to a preflight has Content-Length, which RFC 9110 forbids for a 204.
      preflightContinue: true,
    });
  },
  { name: 'cross-origin' },
);

/** `CORS_ORIGIN`, where `:*` stands for any port; without it any origin in development and none in production. */
function allowedOrigins({ CORS_ORIGIN, NODE_ENV }: Options) {
  if (CORS_ORIGIN === undefined) return NODE_ENV === 'production' ? false : '*';
  if (CORS_ORIGIN === '*') return '*';
  const origins = new Set(CORS_ORIGIN.split(',').map((origin) => origin.trim()));
  return (origin: string | undefined, answer: (error: null, isAllowed: boolean) => void) =>
    answer(null, origin !== undefined && (origins.has(origin) || origins.has(`${origin.replace(/:\d+$/, '')}:*`)));
}
