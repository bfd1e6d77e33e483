import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import { HttpError } from '@rest-services/errors';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The pages load what this service serves and nothing else. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves the files of the client, and its index page at every other path that a browser may ask for. */
export async function serveClient(app: FastifyInstance) {
  await app.register(fastifyStatic, {
    root: publicFolder(),
    // A route for each file, so that the one below is left for every other path.
    wildcard: false,
    cacheControl: false,
    setHeaders(reply, path) {
      void reply.header('content-security-policy', pagePolicy);
      // The build puts a hash of its content into the name of each file under assets/.
      void reply.header(
        'cache-control',
        path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      );
    },
  });
  app.get('/*', { schema: { hide: true } }, (request, reply) => {
    if (!wantsPage(request)) throw new HttpError(404, 'Not found');
    return reply.sendFile('index.html');
  });
}

/** A program that asks for JSON alone must not get a page for a path that it has mistyped. */
function wantsPage({ headers: { accept = '*/*' } }: FastifyRequest) {
  return /text\/html|application\/xhtml\+xml|(text|\*)\/\*/.test(accept);
}

/** Beside the bundle, or beside the sources. */
function publicFolder() {
  const besideBundle = join(import.meta.dirname, 'public');
  return existsSync(besideBundle) ? besideBundle : join(import.meta.dirname, '..', 'public');
}
