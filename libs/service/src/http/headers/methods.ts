import { HttpError } from '@rest-services/errors';
import fp from 'fastify-plugin';
import { NOT_HTTP } from '../connections/client-errors.ts';

/** Methods of the contracts. */
export const CONTRACT_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] as const;

/**
 * Names the methods of a path in `Allow`: in the 404 to a method that the path lacks, and in the 204 to OPTIONS, which a preflight gets
 * with its headers.
 */
export const methods = fp(
  (app, _options, done) => {
    app.addHook('onRequest', (request, reply, next) => {
      const { method, is404, url, raw } = request;
      const lacksHost = raw.headers.host === undefined && raw.httpVersion === '1.1';
      if (lacksHost || (!is404 && method !== 'OPTIONS')) {
        next(lacksHost ? new HttpError(400, NOT_HTTP) : undefined);
        return;
      }
      // Fastify's types lack the null of its documentation.
      const findRoute = (each: string) => app.findRoute({ method: each, url }) as object | null;
      const allowed: string[] = CONTRACT_METHODS.filter((each) => findRoute(each) !== null);
      if (allowed.length > 0) void reply.header('allow', [...allowed, 'OPTIONS'].join(', '));
      const isKnown = allowed.length > 0 || reply.hasHeader('access-control-allow-methods');
      if (method === 'OPTIONS' && isKnown) void reply.code(204).send();
      else next();
    });
    done();
  },
  { name: 'methods', dependencies: ['cross-origin'] },
);

/**
 * Makes the `Location` of a row that a POST to `url` has created. It is relative to that URL, with or without a slash at its end,
 * so that it holds under the path prefix of a proxy.
 */
export function locationOf(url: string, id: number) {
  const path = url.replace(/[?#].*/s, '');
  const list = path.slice(path.lastIndexOf('/') + 1);
  return list === '' ? `${id}` : `${list}/${id}`;
}
