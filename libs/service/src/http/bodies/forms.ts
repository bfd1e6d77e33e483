import { Transform, type Readable } from 'node:stream';
import formbody from '@fastify/formbody';
import { HttpError } from '@rest-services/errors';
import type { FastifyInstance } from 'fastify';
import type { TObject } from 'typebox';
import { urlEncodedReader } from '../../schema/url-encoded.ts';
import { FORM_TYPE, NOT_UTF8, withoutByteOrderMark } from './json-body.ts';

/** Accepts forms in UTF-8 and reads the fields of a shape. */
export async function acceptForms(app: FastifyInstance, { properties }: TObject) {
  const read = urlEncodedReader(Object.keys(properties));
  await app.register(formbody, {
    parser(text: string) {
      const values = read(withoutByteOrderMark(text));
      if (Object.values(values).includes(null)) throw new HttpError(400, NOT_UTF8);
      return values;
    },
  });
  // The parser gets text, in which bytes that are not UTF-8 have become U+FFFD.
  app.addHook('preParsing', ({ headers }, _reply, payload, done) => {
    const isForm = headers['content-type']?.toLowerCase().startsWith(FORM_TYPE);
    done(null, isForm ? utf8Of(payload as Readable) : payload);
  });
}

/**
 * Passes a body on, and fails with an HttpError 400 when it is not UTF-8. The rest of it is read and dropped: pipeline() would destroy it,
 * and the connection before its response.
 */
function utf8Of(body: Readable) {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Buffer) => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
      return null;
    } catch {
      return new HttpError(400, NOT_UTF8);
    }
  };
  const text = new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(decode(chunk), chunk),
    flush: (done) => done(decode()),
  });
  body.on('error', (error) => text.destroy(error));
  return body.pipe(text.on('error', () => body.resume()));
}
