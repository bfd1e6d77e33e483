import { PreconditionFailedError } from '@rest-services/errors';
import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { compileSerializer } from '../../schema/serialisation.ts';
import { findTag, isAny, tagOf } from './entity-tags.ts';

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
    return (row) => findTag(expected, tagOf(serialise(row))) !== undefined;
  };
}

/** @throws PreconditionFailedError when the request has an `If-Match` header other than `*`, for a change of records without a tag */
export function refuseTags({ headers }: FastifyRequest) {
  const expected = headers['if-match'];
  if (expected !== undefined && !isAny(expected)) throw new PreconditionFailedError();
}
