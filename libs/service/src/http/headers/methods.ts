import type { FastifyInstance } from 'fastify';

/** Methods of the contracts. */
export const CONTRACT_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] as const;

/** Names the methods of a path in `Allow`: in the response to OPTIONS, and in the 404 to a method that the path lacks. */
export function nameMethods(app: FastifyInstance) {
  app.addHook('onRequest', (request, reply, done) => {
    const { method, is404, url } = request;
    if (is404 || method === 'OPTIONS') {
      // Fastify's types lack the null of its documentation.
      const findRoute = (each: string) => app.findRoute({ method: each, url }) as object | null;
      const methods: string[] = CONTRACT_METHODS.filter((each) => findRoute(each) !== null);
      if (methods.length > 0) void reply.header('allow', [...methods, 'OPTIONS'].join(', '));
    }
    done();
  });
}

/** Responds 204 to OPTIONS of a path that has methods. */
export function respondToOptions(app: FastifyInstance) {
  app.addHook('onRequest', ({ method }, reply, done) => {
    if (method === 'OPTIONS' && reply.hasHeader('allow')) void reply.code(204).send();
    else done();
  });
}

/**
 * Makes the `Location` of a row that a POST to `url` has created. It is relative to that URL, with or without a slash at its end,
 * so that it holds under the path prefix of a proxy.
 */
export function locationOf(url: string, id: number) {
  const path = url.replace(/\?.*/s, '');
  const list = path.slice(path.lastIndexOf('/') + 1);
  return list === '' ? `${id}` : `${list}/${id}`;
}
