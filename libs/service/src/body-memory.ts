import { Transform } from 'node:stream';
import { overloaded } from '@rest-services/errors';
import type { FastifyInstance } from 'fastify';

/** Bodies that announce no more than this are not counted; a body of any contract is smaller by far. */
const SMALL_BYTES = 4 * 1_024;

/** What bodies that are still arriving, or whose requests are not answered yet, may hold in memory together. */
const MAX_BYTES = 64 * 1_024 ** 2;

/** What Node keeps beside the bytes of each piece, of which a body may have as many as bytes. */
const PIECE_BYTES = 256;

/**
 * Bounds the memory that slow bodies take. Each may be 1 MiB and has 10 s to arrive: a few hundred at a time would be
 * the end of a small container. Beyond the bound they are answered 503.
 */
export function boundBodyMemory(app: FastifyInstance) {
  let held = 0;

  app.addHook('preParsing', (request, reply, payload, done) => {
    const { 'content-length': announced = 0, 'transfer-encoding': encoding } = request.headers;
    if (!encoding && Number(announced) <= SMALL_BYTES) {
      done(null);
      return;
    }
    let bytes = 0;
    const counted = new Transform({
      transform(piece: Buffer, _encoding, next) {
        bytes += piece.length + PIECE_BYTES;
        held += piece.length + PIECE_BYTES;
        next(held > MAX_BYTES ? overloaded() : null, piece);
      },
    });
    reply.raw.once('close', () => (held -= bytes));
    payload.on('error', (error) => counted.destroy(error));
    done(null, payload.pipe(counted));
  });
}
