import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import fastifyStatic from '@fastify/static';
import { NotFoundError } from '@rest-services/errors';
import { webPageHeaders } from '@rest-services/service';
import type { FastifyInstance } from 'fastify';
import Negotiator from 'negotiator';

/** The pages load what this service serves and nothing else. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  // No text becomes markup or script by way of the DOM either: the policy named here knows one address.
  "require-trusted-types-for 'script'",
  'trusted-types service-worker',
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Media types of the index page. Some HTTP clients name the charset as well, which the type without one does not match. */
const pageTypes = ['text/html', 'text/html; charset=utf-8', 'application/xhtml+xml'];

/** Pages that show the list: browsers load it beside the page's script, rather than after it. */
const listPages = ['/', '/todos'];
const listPreload = '</api/todos>; rel=preload; as=fetch; crossorigin';

/** Serves the files of the client, and its index page at every other path that a browser may ask for. */
export async function serveClient(app: FastifyInstance) {
  const root = clientFolder();
  await app.register(fastifyStatic, {
    root,
    // A route for each file, so that the one below is left for every other path.
    wildcard: false,
    // The build puts the same file with .br and .gz beside each; they are chosen by Accept-Encoding, not by address.
    preCompressed: true,
    globIgnore: ['**/*.{br,gz}'],
    cacheControl: false,
    // They come from size and time of change, and an image's build may set all times alike: browsers would keep a stale page.
    etag: false,
    lastModified: false,
    setHeaders(reply, path) {
      void reply.headers(webPageHeaders).header('content-security-policy', pagePolicy);
      // The build puts a hash of its content into the name of each file under assets/.
      const isHashed = relative(root, path).startsWith('assets');
      void reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
      if (listPages.includes(reply.request.url.split('?')[0]!)) void reply.header('link', listPreload);
    },
  });
  app.get('/*', { schema: { hide: true } }, (request, reply) => {
    void reply.header('vary', [reply.getHeader('vary') ?? [], 'accept'].flat().join(', '));
    // A program that asks for JSON alone must not get a page for a path that it has mistyped.
    if (!new Negotiator(request).mediaType(pageTypes)) throw new NotFoundError('Not found');
    return reply.sendFile('index.html');
  });
}

/** The build of todos-web: beside the bundle, or where it was made when the service runs from its sources. */
function clientFolder() {
  const besideBundle = join(import.meta.dirname, 'public');
  if (existsSync(besideBundle)) return besideBundle;
  const built = join(import.meta.dirname, '..', '..', 'todos-web', 'dist');
  if (existsSync(built)) return built;
  throw new Error('There is no client to serve; build it with: npx nx build todos-web');
}
