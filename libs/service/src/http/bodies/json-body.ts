import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from '@rest-services/errors';
import fp from 'fastify-plugin';

const JSON_TYPE = 'application/json';
export const FORM_TYPE = 'application/x-www-form-urlencoded';

const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+\s*(?:;|$)/;

export const NOT_UTF8 = 'Body is not valid UTF-8';

/**
 * Accepts only JSON in UTF-8. Ignores the content type of a request without a body, because some HTTP clients send one with
 * every DELETE.
 */
export const jsonBodies = fp(
  (app, _options, done) => {
    // Prototype keys are unknown properties like any other: a validator copies the known ones. To remove them takes a walk through
    // the whole body, which doubles the time of the largest ones.
    const parseJson = app.getDefaultJsonParser('ignore', 'ignore');
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (request, body: Buffer, parsed) => {
      const text = withoutByteOrderMark(body.toString());
      if (text === '') parsed(null, undefined);
      else if (isUtf8(body)) void parseJson(request, text, parsed);
      else parsed(new HttpError(400, NOT_UTF8));
    });
    // Chunked, a missing body shows only when it has been read.
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body: Buffer, parsed) => {
      const accepted = [JSON_TYPE, FORM_TYPE].filter((type) => app.hasContentTypeParser(type));
      if (body.length === 0) parsed(null, undefined);
      else parsed(unsupported(`Content-Type must be ${accepted.join(' or ')}`, { accept: accepted.join(', ') }));
    });
    app.addHook('preParsing', ({ raw: { headers, method }, is404 }, _reply, _payload, next) => {
      const isEmpty = !headers['transfer-encoding'] && !Number(headers['content-length'] ?? 0);
      const type = headers['content-type'];
      // Fastify itself responds to an invalid media type.
      if (type !== undefined && (isEmpty || !MEDIA_TYPE.test(type))) delete headers['content-type'];
      if (is404) next(new HttpError(404, 'Not found'));
      else if (isEmpty || method === 'GET' || method === 'HEAD' || isPlainUtf8(headers)) next(null);
      else next(unsupported('Body must be in UTF-8 and not compressed', { 'accept-encoding': 'identity' }));
    });
    // Fastify closes the connection with the response to a body that it refuses, so that a client which still sends would get a reset
    // instead of the 413. Node.js reads and drops the rest.
    app.addHook('onError', (_request, reply, _error, next) => {
      if (reply.hasHeader('connection') && !reply.raw.hasHeader('connection')) reply.removeHeader('connection');
      next();
    });
    done();
  },
  { name: 'json bodies' },
);

/** Makes the error of a body that no parser reads, with headers that say what one would read (RFC 9110, 15.5.16). */
const unsupported = (message: string, headers: Record<string, string>) =>
  Object.assign(new HttpError(415, message), { headers });

export const withoutByteOrderMark = (text: string) => (text.startsWith('\ufeff') ? text.slice(1) : text);

/** As far as the headers tell. */
function isPlainUtf8(headers: IncomingHttpHeaders) {
  const transfer = headers['transfer-encoding'] ?? 'chunked';
  const charset = /;\s*charset="?([^;"\s]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  const isPlain = /^identity$/i.test(headers['content-encoding'] ?? 'identity') && /^chunked$/i.test(transfer);
  return isPlain && /^utf-?8$/i.test(charset);
}
