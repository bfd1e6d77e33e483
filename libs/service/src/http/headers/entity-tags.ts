import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';

/** Minimum length of a compressed response. A page of ten rows is shorter, and takes one or two packets either way. */
export const MIN_COMPRESSED_BYTES = 2 * 1_024;

/**
 * Gives each JSON response of a documented GET an entity tag, and responds 304 to a client that has it (RFC 9110, 13.1.2). Nothing else
 * may be stored by a cache. A strong tag names one sequence of bytes, so that what may be compressed has a weak one.
 */
export const entityTags = fp(
  (app, _options, done) => {
    app.addHook('onRequest', ({ headers }, reply, next) => {
      reply.header('cache-control', 'no-store');
      // No file has a strong validator, the only kind that matches. `@fastify/send` compares dates and weak tags as well.
      if (headers['if-range'] !== undefined) delete headers.range;
      next();
    });
    app.addHook('onSend', (request, reply, payload, next) => {
      if (typeof payload !== 'string' || reply.statusCode !== 200 || !isDocumentedRead(request)) next(null, payload);
      else if (
        isUnmodified(reply, Buffer.byteLength(payload) < MIN_COMPRESSED_BYTES ? tagOf(payload) : weakTagOf(payload))
      ) {
        reply.code(304).removeHeader('content-type');
        // Fastify itself drops the body of a HEAD, after it has taken its length.
        next(null, request.method === 'HEAD' ? payload : null);
      } else next(null, payload);
    });
    done();
  },
  { name: 'entity tags' },
);

function isDocumentedRead({ method, routeOptions }: FastifyRequest) {
  return (method === 'GET' || method === 'HEAD') && routeOptions.schema?.hide !== true;
}

/** Makes the entity tag of a text. */
export const tagOf = (text: string) => `"${hash('sha1', text, 'base64url')}"`;

/** The entity tag of something that has this version, whatever its bytes. */
export const weakTagOf = (version: string) => `W/${tagOf(version)}`;

/**
 * Reads an entity tag of this service, which has 27 characters. A suffix comes from the compression of a proxy (Apache's `-gzip`), as
 * does `W/` before a strong tag (nginx, HAProxy).
 */
const ownPart = (tag: string) => /^(?:W\/)?"([\w-]{27})/.exec(tag)?.[1];

/** Sets the entity tag of a response to a GET. @returns whether the client has that version, and expects a 304 */
export function isUnmodified(reply: FastifyReply, tag: string) {
  const given = reply.request.headers['if-none-match'] ?? '';
  const known = findTag(given, tag);
  if (tag.startsWith('W/'))
    void reply.header('vary', [reply.getHeader('vary') ?? [], 'accept-encoding'].flat().join(', '));
  // A cache finds its response by the tag that it has.
  void reply.headers({ etag: known ?? tag, 'cache-control': 'no-cache' });
  return known !== undefined || isAny(given);
}

/** Finds a tag in a header, in the form that it has there. */
export const findTag = (header: string, tag: string) =>
  header.match(/(W\/)?"[^"]*"/g)?.find((each) => ownPart(each) === ownPart(tag));

export const isAny = (header: string) => header.trim() === '*';
