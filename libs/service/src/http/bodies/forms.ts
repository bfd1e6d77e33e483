import { isUtf8 } from 'node:buffer';
import { HttpError } from '@rest-services/errors';
import type { FastifyInstance } from 'fastify';
import { urlEncodedReader } from '../../schema/url-encoded.ts';
import { FORM_TYPE, NOT_UTF8, withoutByteOrderMark } from './json-body.ts';

/** Accepts forms in UTF-8 and reads these fields of them. */
export function acceptForms(app: FastifyInstance, names: readonly string[]) {
  const read = urlEncodedReader(names);
  app.addContentTypeParser(FORM_TYPE, { parseAs: 'buffer' }, (_request, body: Buffer, parsed) => {
    const values = read(withoutByteOrderMark(body.toString()));
    if (isUtf8(body) && !Object.values(values).includes(null)) parsed(null, values);
    else parsed(new HttpError(400, NOT_UTF8));
  });
}
