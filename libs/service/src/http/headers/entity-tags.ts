import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * Gives each JSON response of a documented GET a strong entity tag, and responds 304 to a client that has it (RFC 9110, 13.1.2).
 * Nothing else may be stored by a cache.
 */
export function addEntityTags(app: FastifyInstance) {
  app.addHook('onRequest', ({ headers }, reply, done) => {
    reply.header('cache-control', 'no-store');
    // No file has a strong validator, the only kind that matches. `@fastify/send` compares dates and weak tags as well.
    if (headers['if-range'] !== undefined) delete headers.range;
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const isTagged = typeof payload === 'string' && reply.statusCode === 200 && isDocumentedRead(request);
    if (isTagged && isUnmodified(reply, tagOf(payload))) {
      reply.code(304).removeHeader('content-type');
      // Fastify itself drops the body of a HEAD, after it has taken its length.
      done(null, request.method === 'HEAD' ? payload : null);
    } else {
      done(null, payload);
    }
  });
}

function isDocumentedRead({ method, routeOptions }: FastifyRequest) {
  return (method === 'GET' || method === 'HEAD') && routeOptions.schema?.hide !== true;
}

/** Makes the entity tag of a text. */
export const tagOf = (text: string) => `"${hash('sha1', text, 'base64url')}"`;

/** The entity tag of something that has this version, whatever its bytes. */
export const weakTagOf = (version: string) => `W/${tagOf(version)}`;

/**
 * Reads an entity tag of this service, which has 27 characters. A suffix comes from the compression of the service (`.gzip`)
 * or of a proxy (Apache's `-gzip`), and `W/` before a strong tag from nginx or HAProxy.
 */
const ownPart = (tag: string) => /^(?:W\/)?"([\w-]{27})/.exec(tag)?.[1];

/** Sets the entity tag of a response to a GET. @returns whether the client has that version, and expects a 304 */
export function isUnmodified(reply: FastifyReply, tag: string) {
  const given = reply.request.headers['if-none-match'] ?? '';
  const known = findTag(given, tag);
  // A cache finds its response by the tag that it has.
  void reply.headers({ etag: known ?? tag, 'cache-control': 'no-cache' });
  return known !== undefined || isAny(given);
}

/** Finds a tag in a header, in the form that it has there. */
export const findTag = (header: string, tag: string) =>
  header.match(/(W\/)?"[^"]*"/g)?.find((each) => ownPart(each) === ownPart(tag));

export const isAny = (header: string) => header.trim() === '*';
