import { hash } from 'node:crypto';
import { PreconditionFailedError } from '@rest-services/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { withoutCoding } from './compression.ts';
import { compileSerializer } from '../schema/serialisation.ts';

/**
 * Gives each JSON response of a documented GET a strong entity tag, and responds 304 to a client that has it (RFC 9110, 13.1.2).
 * Nothing else may be stored by a cache.
 */
export function addEntityTags(app: FastifyInstance) {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
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

const tagOf = (json: string) => `"${hash('sha1', json, 'base64url')}"`;

/** Sets the entity tag of a response to a GET. @returns whether the client has that version, and expects a 304 */
export function isUnmodified(reply: FastifyReply, tag: string) {
  const given = reply.request.headers['if-none-match'] ?? '';
  const known = tagsIn(given).find((each) => weak(withoutCoding(each)) === weak(tag));
  // A cache finds its compressed response by the tag of that.
  const isCompressed = known !== undefined && withoutCoding(known) !== known;
  void reply.headers({ etag: isCompressed ? weak(known) : tag, 'cache-control': 'no-cache' });
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
    const tags = tagsIn(expected).map(withoutCoding);
    return (row) => tags.includes(tagOf(serialise(row)));
  };
}

/** @throws PreconditionFailedError when the request has an `If-Match` header other than `*`, for a change of records without a tag */
export function refuseTags({ headers }: FastifyRequest) {
  const expected = headers['if-match'];
  if (expected !== undefined && !isAny(expected)) throw new PreconditionFailedError();
}

const isAny = (header: string) => header.trim() === '*';

const tagsIn = (header: string): string[] => header.match(/(W\/)?"[^"]*"/g) ?? [];

/** The tag for a comparison that ignores whether tags are weak. */
const weak = (tag: string) => tag.replace(/^W\//, '');
