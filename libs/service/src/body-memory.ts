import { Transform } from 'node:stream';
import { overloaded } from '@rest-services/errors';
import type { FastifyInstance } from 'fastify';

/** Requests that announce no more than this are not counted; a body of any contract is smaller by far. */
const SMALL_REQUEST_BYTES = 4 * 1_024;

/** Answers of no more than this are not counted: the system takes them at once, whether their readers do or not. */
const SMALL_ANSWER_BYTES = 64 * 1_024;

/** What bodies may hold in memory together. */
const MAX_BYTES = 64 * 1_024 ** 2;

/** What Node keeps beside the bytes of each piece; a body may arrive in pieces of one byte. */
const PIECE_BYTES = 256;

/**
 * What the bodies hold that are still arriving, whose requests are not answered yet, or whose answers are not read yet.
 * Each may be 1 MiB or more, and those who send or read them slowly keep them for long: a few hundred at a time would be
 * the end of a small container.
 */
export class BodyMemory {
  #bytes = 0;
  readonly #waiting: (() => void)[] = [];

  get isFull() {
    return this.#bytes > MAX_BYTES;
  }

  hold(bytes: number) {
    this.#bytes += bytes;
  }

  release(bytes: number) {
    this.#bytes -= bytes;
    if (!this.isFull) this.#waiting.shift()?.();
  }

  /** Waits while it is full. Whoever has waited calls `release` in the end, which lets the next go on. */
  async room() {
    if (this.isFull) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    bodyMemory: BodyMemory;
  }
}

/** Answers 503 to large requests, and to those with large answers, while there is no memory for them. */
export function boundBodyMemory(app: FastifyInstance) {
  const memory = new BodyMemory();
  app.decorate('bodyMemory', memory);

  app.addHook('preParsing', (request, reply, payload, done) => {
    const { 'content-length': announced = 0, 'transfer-encoding': encoding } = request.headers;
    if (!encoding && Number(announced) <= SMALL_REQUEST_BYTES) {
      done(null);
      return;
    }
    let bytes = 0;
    const counted = new Transform({
      transform(piece: Buffer, _encoding, next) {
        bytes += piece.length + PIECE_BYTES;
        memory.hold(piece.length + PIECE_BYTES);
        next(memory.isFull ? overloaded() : null, piece);
      },
    });
    // Fastify listens only while it reads, which it never does for a GET. An error that nobody listens to would end the process.
    counted.on('error', () => undefined);
    // What arrives after the answer is not kept, and must be taken off the connection for the next request.
    reply.raw.once('close', () => {
      payload.unpipe(counted).resume();
      memory.release(bytes);
    });
    done(null, payload.pipe(counted));
  });

  // A write has been committed: a 503 would deny it. Its answer is no larger than its request, which is counted.
  app.addHook('onSend', (request, reply, payload, done) => {
    const isSmall = typeof payload !== 'string' || payload.length <= SMALL_ANSWER_BYTES;
    // Who has left gets nothing, and has been waited for already.
    if (request.method !== 'GET' || isSmall || reply.raw.destroyed) {
      done(null, payload);
      return;
    }
    if (memory.isFull) {
      done(overloaded());
      return;
    }
    // Of a string, Node would keep two copies until it has been sent.
    const bytes = Buffer.from(payload);
    memory.hold(bytes.length);
    reply.raw.once('close', () => memory.release(bytes.length));
    done(null, bytes);
  });
}
