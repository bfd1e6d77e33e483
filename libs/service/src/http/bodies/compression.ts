import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  zstdCompress,
} from 'node:zlib';
import { Semaphore } from '@rest-services/concurrency';
import type { FastifyInstance, FastifyReply } from 'fastify';
import Negotiator from 'negotiator';

/** Minimum length of a compressed response. A page of ten rows is shorter, and takes one or two packets either way. */
const MIN_BYTES = 2 * 1_024;

/** Maximum number of streams that are compressed at once, because each takes up to 0.9 MB. Further ones are sent as they are. */
const MAX_STREAMS = 16;

// Windows and tables are smaller than by default, because each response has its own. For 10,000 todos, zstd takes 5 ms, gzip 20 and Brotli 25.
const zstdOptions = {
  params: {
    [constants.ZSTD_c_windowLog]: 17,
    [constants.ZSTD_c_chainLog]: 15,
    [constants.ZSTD_c_hashLog]: 15,
  },
};
const brotliOptions = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 16 },
};
const [zstdWhole, gzipWhole, brotliWhole] = [promisify(zstdCompress), promisify(gzip), promisify(brotliCompress)];

/** Codings by name, the one that takes the least CPU first. Streams are flushed with each chunk. */
const codings = {
  zstd: {
    whole: (bytes: Buffer) => zstdWhole(bytes, zstdOptions),
    stream: () => createZstdCompress({ ...zstdOptions, flush: constants.ZSTD_e_flush }),
  },
  gzip: {
    whole: (bytes: Buffer) => gzipWhole(bytes),
    stream: () => createGzip({ flush: constants.Z_SYNC_FLUSH }),
  },
  br: {
    whole: (bytes: Buffer) => brotliWhole(bytes, brotliOptions),
    stream: () => createBrotliCompress({ ...brotliOptions, flush: constants.BROTLI_OPERATION_FLUSH }),
  },
};

type Coding = keyof typeof codings;

const names = [...(Object.keys(codings) as Coding[]), 'identity'] as const;

/** Compresses responses of at least 2 KiB as `Accept-Encoding` says. Others cost a comparison. */
export function compressResponses(app: FastifyInstance) {
  // Strings are compressed in Node.js's four threads. Hundreds of them would each take memory while they wait.
  const threads = new Semaphore(4);
  let streams = 0;

  app.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode === 304) varyByEncoding(reply);
    if (!isWorthIt(payload) || !isCompressible(reply)) {
      done(null, payload);
      return;
    }
    varyByEncoding(reply);
    const coding = preferredCoding(request.headers['accept-encoding']);
    const isStream = payload instanceof Readable;
    if (!coding || reply.raw.destroyed || (isStream && streams >= MAX_STREAMS)) {
      done(null, payload);
      return;
    }

    void reply.header('content-encoding', coding).removeHeader('content-length').removeHeader('accept-ranges');
    const tag = reply.getHeader('etag');
    if (typeof tag === 'string') void reply.header('etag', encodedTag(tag, coding));
    if (!isStream) {
      threads.run(() => codings[coding].whole(bytesOf(payload))).then((bytes) => done(null, bytes), done);
    } else if (request.method === 'HEAD') {
      done(null, payload);
    } else {
      // The response to an error before the first chunk is not compressed.
      payload.once('error', () => void reply.removeHeader('content-encoding'));
      streams += 1;
      const compressed = codings[coding].stream().once('close', () => (streams -= 1));
      // Fastify logs an error of the compressed stream, and pipeline closes either stream with the other.
      done(
        null,
        pipeline(payload, compressed, () => undefined),
      );
    }
  });
}

const isWorthIt = (payload: unknown): payload is string | Buffer | Readable =>
  typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length >= MIN_BYTES : payload instanceof Readable;

const bytesOf = (payload: string | Buffer) => (typeof payload === 'string' ? Buffer.from(payload) : payload);

/** A 304 has a body only until its HEAD is sent, files of pages have been compressed by their build, and ranges count plain bytes. */
const isCompressible = (reply: FastifyReply) =>
  reply.statusCode !== 304 &&
  !reply.hasHeader('content-encoding') &&
  !reply.hasHeader('content-range') &&
  /^text\/|json|javascript|svg/.test(String(reply.getHeader('content-type')));

function varyByEncoding(reply: FastifyReply) {
  const vary = [reply.getHeader('vary') ?? []].flat().join(', ');
  if (/accept-encoding/i.test(vary)) return;
  void reply.header('vary', vary ? `${vary}, accept-encoding` : 'accept-encoding');
}

/** The coding that a client prefers: RFC 9110, 12.5.3. A client without the header gets none. */
function preferredCoding(header: string | string[] | undefined) {
  const negotiator = new Negotiator({ headers: { 'accept-encoding': header } }) as PreferringNegotiator;
  const name = negotiator.encoding(names, { preferred: names });
  return name === 'identity' ? undefined : name;
}

/** Negotiator's types lack its option for what the server prefers among codings that the client likes alike. */
interface PreferringNegotiator {
  encoding<Name extends string>(available: readonly Name[], options: { preferred: readonly Name[] }): Name | undefined;
}

/** A strong entity tag names one sequence of bytes, so that a compressed response has its own: `"1"` and `"1.gzip"`. */
const encodedTag = (tag: string, coding: Coding) => (tag.startsWith('W/') ? tag : tag.replace(/"$/, `.${coding}"`));
