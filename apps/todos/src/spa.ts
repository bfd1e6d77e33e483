import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import fastifyStatic from '@fastify/static';
import { NotFoundError } from '@rest-services/errors';
import { webPageHeaders } from '@rest-services/service';
import type { FastifyInstance, FastifyReply } from 'fastify';
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

/** Paths that can only be files, by their endings or where they lie, and paths with an empty segment. */
const noPage = /^\/assets\/|\.(?:js|css|map|json|webmanifest|ico|png|svg|woff2|txt|xml)$|\/\//i;

/** What browsers fetch to show as a page, or by a script; anything else is a part of a page. */
const destinations = ['document', 'iframe', 'frame', 'empty'];

/** Serves the files of the client, and its index page at every other path that a browser may ask for. */
export function serveClient(app: FastifyInstance) {
  const root = clientFolder();
  // At the start: an error in `setHeaders`, such as no file descriptor, would end the process.
  const tags = tagsOfFiles(root);
  return app.register(async (scope) => {
    scope.addHook('onSend', (_request, reply, payload, done) => {
      if (reply.statusCode !== 200 || !isKnown(reply)) {
        done(null, payload);
        return;
      }
      reply.code(304).removeHeader('content-type').removeHeader('content-length');
      (payload as Readable).destroy();
      done(null, null);
    });
    await scope.register(fastifyStatic, {
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
        void reply.headers(webPageHeaders).headers({ 'content-security-policy': pagePolicy, etag: tags.get(path) });
        // The build has compressed it, if it is long, with a tag for each coding.
        reply.request.headers['x-no-compression'] = '';
        // The build puts a hash of its content into the name of each file under assets/.
        const isHashed = relative(root, path).startsWith('assets');
        void reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
        if (listPages.includes(reply.request.url.split('?')[0]!)) void reply.header('link', listPreload);
      },
    });
    scope.get('/*', { schema: { hide: true } }, (request, reply) => {
      void reply.header('vary', [reply.getHeader('vary') ?? [], 'accept', 'sec-fetch-dest'].flat().join(', '));
      const { 'sec-fetch-dest': destination = 'document' } = request.headers as Record<string, string>;
      // A program that asks for JSON alone must not get a page for a path that it has mistyped.
      const isWanted = new Negotiator(request).mediaType(pageTypes) && destinations.includes(destination);
      if (!isWanted || noPage.test(request.url.split('?')[0]!)) throw new NotFoundError('Not found');
      return reply.sendFile('index.html');
    });
  });
}

/** Reads the strong entity tag of each file, by its content. An image does not change its files. */
function tagsOfFiles(root: string) {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  return new Map(paths.map((path) => [path, `"${hash('sha1', readFileSync(path), 'base64url')}"`]));
}

/** Whether the client has what is sent. A proxy that compresses makes the tag that it has a weak one. */
const isKnown = (reply: FastifyReply) =>
  reply.request.headers['if-none-match']?.match(/"[^"]*"/g)?.includes(reply.getHeader('etag') as string) === true;

/** The build of todos-web: beside the bundle, or where it was made when the service runs from its sources. */
function clientFolder() {
  const besideBundle = join(import.meta.dirname, 'public');
  if (existsSync(besideBundle)) return besideBundle;
  const built = join(import.meta.dirname, '..', '..', 'todos-web', 'dist');
  if (existsSync(built)) return built;
  throw new Error('There is no client to serve; build it with: npx nx build todos-web');
}
