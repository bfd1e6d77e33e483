import { PreconditionFailedError } from '@rest-services/errors';
import type { FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import { compileSerializer } from '../../schema/serialisation.ts';
import { findTag, isAny, tagOf } from './entity-tags.ts';

/** Reads records by their ids. */
interface Records {
  findVersion(id: number): Promise<{ row: object; version: string } | undefined>;
}

/**
 * Makes a function that evaluates the preconditions of a change (RFC 9110, 13.2.2: `If-Match`, then `If-None-Match`). It returns the
 * version that the change must find, `undefined` for any, and `null` when there is no such record.
 * @param schema of the response to a GET of the record, from which its tag is made
 * @throws PreconditionFailedError, of that function, when the record that is there does not meet them
 */
export function createPreconditions(schema: TObject, records: Records) {
  const serialise = compileSerializer({ schema, method: 'GET', url: '', httpStatus: '200' });
  return async ({ headers }: FastifyRequest, id: number): Promise<string | null | undefined> => {
    const expected = headers['if-match'] ?? '*';
    const refused = headers['if-none-match'];
    // Any record that is there has `*`, and the change itself finds whether one is.
    if (isAny(expected) && refused === undefined) return undefined;
    const found = await records.findVersion(id);
    if (!found) return null;
    const tag = tagOf(serialise(found.row));
    if (!matches(expected, tag) || (refused !== undefined && matches(refused, tag)))
      throw new PreconditionFailedError();
    return found.version;
  };
}

/** @throws PreconditionFailedError when a change of records without a tag has preconditions other than `If-Match: *` */
export function refuseTags({ headers }: FastifyRequest) {
  if (!isAny(headers['if-match'] ?? '*') || headers['if-none-match'] !== undefined) throw new PreconditionFailedError();
}

const matches = (header: string, tag: string) => isAny(header) || findTag(header, tag) !== undefined;
