import type { ServerResponse } from 'node:http';
import { OverloadedError } from '@rest-services/errors';
import fp from 'fastify-plugin';

/** Maximum of all bodies in memory together. */
const MAX_BYTES = 32 * 1_024 ** 2;

/** Maximum length of an uncounted request body, of which hundreds take little memory. */
const MAX_UNCOUNTED_REQUEST_BYTES = 4 * 1_024;

/** Maximum length of an uncounted response, which the system's buffers take at once. */
const MAX_UNCOUNTED_RESPONSE_BYTES = 64 * 1_024;

/** Bytes of bodies: those of requests until the response has been sent, those of responses until they have been read. */
class BodyMemory {
  bytes = 0;

  get isFull() {
    return this.bytes > MAX_BYTES;
  }

  hold(bytes: number, response: ServerResponse) {
    this.bytes += bytes;
    response.once('close', () => (this.bytes -= bytes));
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    bodyMemory: BodyMemory;
  }
}

/**
 * Responds 503 to requests whose bodies or responses are counted while the memory for them is full. Otherwise, some hundreds of slow
 * clients with 1 MiB each fill a container of 256 MB. Counted strings become bytes, of which no entity tag is made.
 */
export const bodyMemory = fp(
  (app, _options, done) => {
    const memory = new BodyMemory();
    app.decorate('bodyMemory', memory);
    app.addHook('onRequest', (request, { raw }, next) => {
      const { headers } = request;
      const announced = headers['transfer-encoding'] ? Infinity : Number(headers['content-length'] ?? 0);
      const isCounted = announced > MAX_UNCOUNTED_REQUEST_BYTES;
      const refusal = isCounted && memory.isFull ? new OverloadedError('memory') : undefined;
      if (isCounted && !refusal) memory.hold(Math.min(announced, request.routeOptions.bodyLimit), raw);
      next(refusal);
    });
    app.addHook('onSend', ({ method }, { raw }, payload, next) => {
      const isLong = typeof payload === 'string' && payload.length > MAX_UNCOUNTED_RESPONSE_BYTES;
      // A write has been committed, which a 503 would deny; its response is not larger than its request, which is counted.
      if (!isLong || method !== 'GET' || raw.destroyed) next(null, payload);
      else if (memory.isFull) next(new OverloadedError('memory'));
      else {
        // Node.js keeps two copies of a string until it has been sent.
        const bytes = Buffer.from(payload);
        memory.hold(bytes.length, raw);
        next(null, bytes);
      }
    });
    done();
  },
  { name: 'body memory', dependencies: ['cross-origin', 'entity tags'] },
);
