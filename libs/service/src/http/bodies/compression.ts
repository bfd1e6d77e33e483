import compress from '@fastify/compress';
import fp from 'fastify-plugin';
import { MIN_COMPRESSED_BYTES } from '../headers/entity-tags.ts';

// An eighth of the default memory, because each response has its own; JSON becomes as short. Level 1 takes a third of the time of the default.
const zlibOptions = { level: 1, windowBits: 12, memLevel: 5 };

/** Compresses long responses with gzip, which every client that takes another coding takes, too. */
export const compression = fp(
  async (app) => {
    await app.register(compress, {
      globalDecompression: false,
      encodings: ['gzip'],
      customTypes: /^text\/|json|javascript|svg/,
      threshold: MIN_COMPRESSED_BYTES,
      zlibOptions,
    });
    // It has appended its hook to Fastify's, which drops the body of a HEAD, so that it would find nothing to compress. Its first call
    // loads Node.js's HTTP client, which takes 25 ms: short responses pass it by.
    app.addHook('onRoute', (route) => {
      const hooks = [route.onSend ?? []].flat();
      const compressLong = hooks.pop()!;
      route.onSend = [
        function (request, reply, payload, next) {
          if (!payload || (typeof payload === 'string' && Buffer.byteLength(payload) < MIN_COMPRESSED_BYTES))
            next(null, payload);
          else void compressLong.call(this, request, reply, payload, next);
        },
        ...hooks,
      ];
    });
    // The response to the error of a stream is not compressed.
    app.addHook('onError', (_request, reply, _error, next) => {
      reply.removeHeader('content-encoding');
      next();
    });
  },
  { name: 'compression', dependencies: ['body memory', 'entity tags'] },
);
