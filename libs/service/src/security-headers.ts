import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/**
 * What Helmet sets on an answer that is data: nothing in it may be run, framed or guessed to be a page. TLS, and with it
 * HSTS, is the proxy's. They are the same for every answer, so they are made once; @fastify/helmet makes them anew for
 * each, which takes longer than the rest of a small answer.
 */
export const securityHeaders = headersOf(
  helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    strictTransportSecurity: false,
    // These are for pages, or for browsers of long ago.
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  }),
);

function headersOf(setHeaders: ReturnType<typeof helmet>) {
  const headers: Record<string, string> = {};
  const response = {
    setHeader: (name: string, value: string) => (headers[name.toLowerCase()] = value),
    removeHeader: () => undefined,
  };
  setHeaders({} as unknown as IncomingMessage, response as unknown as ServerResponse, () => undefined);
  return headers;
}
