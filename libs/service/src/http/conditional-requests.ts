import { hash } from 'node:crypto';
import { PreconditionFailedError } from '@rest-services/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { compileSerializer } from '../schema/serialisation.ts';

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
const tagOf = (text: string) => `"${hash('sha1', text, 'base64url')}"`;

/** The entity tag of something that has this version, whatever its bytes. */
export const weakTagOf = (version: string) => `W/${tagOf(version)}`;

/**
 * Reads an entity tag of this service, which has 27 characters. What follows them comes from the compression of the service (`.gzip`)
 * or of a proxy (Apache's `-gzip`), and `W/` before a strong tag from nginx or HAProxy.
 */
const ownPart = (tag: string) => /^(?:W\/)?"([\w-]{27})/.exec(tag)?.[1];

/** Sets the entity tag of a response to a GET. @returns whether the client has that version, and expects a 304 */
export function isUnmodified(reply: FastifyReply, tag: string) {
  const given = reply.request.headers['if-none-match'] ?? '';
  const known = tagsIn(given).find((each) => ownPart(each) === ownPart(tag));
  // A cache finds its response by the tag that it has.
  void reply.headers({ etag: known ?? tag, 'cache-control': 'no-cache' });
  return known !== undefined || isAny(given);
}

/**
 * Makes a function that reads the `If-Match` header of a change. Its result says whether a row has one of the tags, so that the change
 * may be made, and is `undefined` without the header, or with `*`, which any row that exists has.
 * @param schema of the response to a GET of the record, from which its tag is made
 */
export function createIfMatch(schema: TSchema) {
  const serialise = compileSerializer({ schema, method: 'GET', url: '', httpStatus: '200' });
  return ({ headers }: FastifyRequest): ((row: object) => boolean) | undefined => {
    const expected = headers['if-match'];
    if (expected === undefined || isAny(expected)) return undefined;
    const tags = tagsIn(expected).map(ownPart);
    return (row) => tags.includes(ownPart(tagOf(serialise(row))));
  };
}

/** @throws PreconditionFailedError when the request has an `If-Match` header other than `*`, for a change of records without a tag */
export function refuseTags({ headers }: FastifyRequest) {
  const expected = headers['if-match'];
  if (expected !== undefined && !isAny(expected)) throw new PreconditionFailedError();
}

const isAny = (header: string) => header.trim() === '*';

const tagsIn = (header: string): string[] => header.match(/(W\/)?"[^"]*"/g) ?? [];
