import { isUtf8 } from 'node:buffer';
import { HttpError } from '@rest-services/errors';
import type { FastifyInstance } from 'fastify';
import { urlEncodedReader } from '../../schema/url-encoded.ts';
import { FORM_TYPE, NOT_UTF8, withoutByteOrderMark } from './json-body.ts';

/** Accepts forms in UTF-8 and reads these fields of them. */
export function acceptForms(app: FastifyInstance, names: readonly string[]) {
  const read = urlEncodedReader(names);
  app.addContentTypeParser(FORM_TYPE, { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
    const values = isUtf8(body) ? read(withoutByteOrderMark(body.toString())) : { body: null };
    // A field whose percent-encoded bytes are not UTF-8 is null.
    if (Object.values(values).includes(null)) done(new HttpError(400, NOT_UTF8));
    else done(null, values);
  });
}
