import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

// Made once, because @fastify/helmet makes the headers of each response, which takes longer than the rest of a response with one record.
// The proxy does TLS, and with it HSTS.

/** Headers of each response: browsers must not run, frame or sniff it. */
export const securityHeaders = headersOf(
  helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  }),
  helmet.xContentTypeOptions(),
);

/**
 * Further headers of pages, which need a policy of their own, too. Responses with data do without them, because each header costs
 * 1 to 2 % of the requests.
 */
export const webPageHeaders = headersOf(
  helmet.crossOriginOpenerPolicy(),
  helmet.crossOriginResourcePolicy(),
  helmet.referrerPolicy(),
  // Old browsers do not know frame-ancestors.
  helmet.xFrameOptions({ action: 'deny' }),
);

type Middleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

function headersOf(...middlewares: Middleware[]) {
  const headers: Record<string, string> = {};
  const setHeader = (name: string, value: string) => (headers[name.toLowerCase()] = value);
  for (const middleware of middlewares) {
    middleware({} as unknown as IncomingMessage, { setHeader } as unknown as ServerResponse, () => undefined);
  }
  return headers;
}
