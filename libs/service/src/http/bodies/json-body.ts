import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from '@rest-services/errors';
import type { FastifyInstance } from 'fastify';

export const NOT_UTF8 = 'Body is not valid UTF-8';

/**
 * Accepts only JSON in UTF-8. Ignores the content type of a request without a body, because some HTTP clients send one with
 * every DELETE.
 */
export function acceptJson(app: FastifyInstance) {
  // Prototype keys are unknown properties like any other: a validator copies the known ones. To remove them takes a walk through
  // the whole body, which doubles the time of the largest ones.
  const parseJson = app.getDefaultJsonParser('ignore', 'ignore');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    const text = withoutByteOrderMark(body.toString());
    if (text === '') done(null, undefined);
    else if (isUtf8(body)) void parseJson(request, text, done);
    else done(new HttpError(400, NOT_UTF8));
  });
  // Chunked, a missing body shows only when it has been read.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body: Buffer, done) =>
    body.length === 0 ? done(null, undefined) : done(new HttpError(415, 'Unsupported Media Type')),
  );
  app.addHook('preParsing', ({ raw: { headers, method }, is404 }, _reply, _payload, done) => {
    const isEmpty = !headers['transfer-encoding'] && !Number(headers['content-length'] ?? 0);
    if (isEmpty && headers['content-type'] !== undefined) delete headers['content-type'];
    if (is404) done(new HttpError(404, 'Not found'));
    else if (isEmpty || method === 'GET' || method === 'HEAD' || isPlainUtf8(headers)) done(null);
    else done(new HttpError(415, 'Body must be in UTF-8 and not compressed'));
  });
}

export const withoutByteOrderMark = (text: string) => (text.startsWith('\ufeff') ? text.slice(1) : text);

/** As far as the headers tell. */
function isPlainUtf8(headers: IncomingHttpHeaders) {
  const transfer = headers['transfer-encoding'] ?? 'chunked';
  const charset = /;\s*charset="?([^;"\s]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  const isPlain = /^identity$/i.test(headers['content-encoding'] ?? 'identity') && /^chunked$/i.test(transfer);
  return isPlain && /^utf-?8$/i.test(charset);
}
