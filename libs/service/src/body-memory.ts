import type { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { overloaded } from '@rest-services/errors';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { lingeringClose } from './connections.ts';

/** Requests that announce no more than this are not counted: hundreds of them are little. */
const SMALL_REQUEST_BYTES = 4 * 1_024;

/** Answers of no more than this are not counted: the system takes them at once, whether their readers do or not. */
const SMALL_ANSWER_BYTES = 64 * 1_024;

/** What bodies may hold in memory together. */
const MAX_BYTES = 32 * 1_024 ** 2;

/** A body may arrive one byte at a time, and Node.js keeps hundreds of bytes beside each piece: pieces are copied into blocks. */
const BLOCK_BYTES = 16 * 1_024;

/**
 * Counts the bytes of request bodies until their requests are answered, and those of answers until they have been read. A
 * body may have 1 MiB or more, for as long as its sender or its reader likes: some hundreds at a time would be the end of a
 * small container.
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
    while (!this.isFull && this.#waiting.length > 0) this.#waiting.shift()!();
  }

  /** Waits while it is full, in the order in which others do. */
  async holdWhenThereIsRoom(bytes: number) {
    if (!this.isFull) {
      this.hold(bytes);
      return;
    }
    await new Promise<void>((resolve) => {
      this.#waiting.push(() => {
        this.hold(bytes);
        resolve();
      });
    });
  }
}

const isSmallRequest = ({ headers }: IncomingMessage) =>
  !headers['transfer-encoding'] && Number(headers['content-length'] ?? 0) <= SMALL_REQUEST_BYTES;

function countedBody(raw: IncomingMessage, { raw: response }: FastifyReply, memory: BodyMemory, limit: number) {
  const body = new CountedBody(memory, limit);
  // What arrives later is not kept, and must be taken off the connection for the next request.
  body.on('error', () => raw.resume());
  raw.on('error', (error) => body.destroy(error));
  response.once('close', () => {
    raw.unpipe(body).resume();
    memory.release(body.bytes);
  });
  return raw.pipe(body);
}

/**
 * A body as it arrives, whether it is read yet or not. It keeps up to 32 KiB more than `limit`, so that its reader notices that
 * it is too large, and drops the rest. Fails with an HttpError 503 when there is no memory for it.
 */
class CountedBody extends Transform {
  bytes = 0;
  readonly #memory: BodyMemory;
  readonly #maxBytes: number;
  #block = Buffer.alloc(0);
  #used = 0;

  constructor(memory: BodyMemory, limit: number) {
    const most = limit + 2 * BLOCK_BYTES;
    super({ readableHighWaterMark: most + 1 });
    this.#memory = memory;
    this.#maxBytes = most;
  }

  override _transform(piece: Buffer, _encoding: string, done: TransformCallback) {
    for (let at = 0; at < piece.length;) {
      if (this.#used === this.#block.length) {
        if (this.bytes >= this.#maxBytes) break;
        this.#startBlock();
      }
      const copied = piece.copy(this.#block, this.#used, at);
      this.#used += copied;
      at += copied;
    }
    done(this.#memory.isFull ? overloaded() : null);
  }

  override _flush(done: TransformCallback) {
    done(null, this.#block.subarray(0, this.#used));
  }

  #startBlock() {
    if (this.#used > 0) this.push(this.#block);
    this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#used = 0;
    this.bytes += BLOCK_BYTES;
    this.#memory.hold(BLOCK_BYTES);
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
  const bodies = new WeakMap<IncomingMessage, CountedBody>();

  // Before a request waits for anything: Node would keep what arrives meanwhile in the pieces in which it arrives.
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    if (!isSmallRequest(raw)) {
      const isRead = raw.method !== 'GET' && raw.method !== 'HEAD';
      if (isRead) bodies.set(raw, countedBody(raw, reply, memory, request.routeOptions.bodyLimit));
      else raw.resume();
    }
    done();
  });
  app.addHook('preParsing', ({ raw }, _reply, payload, done) => {
    const body = isSmallRequest(raw) ? undefined : bodies.get(raw);
    done(body?.errored, body ?? payload);
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    // Fastify would close the connection with the answer to a body that it could not read. What is still to come is read and
    // dropped, as long as a request may take to arrive. In a drain, Node.js has that header.
    if (reply.hasHeader('connection') && !reply.raw.hasHeader('connection')) reply.removeHeader('connection');
    lingeringClose(request.raw, reply.raw);
    const isSmallAnswer = typeof payload !== 'string' || payload.length <= SMALL_ANSWER_BYTES;
    // A write has been committed: a 503 would deny it. Its answer is no larger than its request, which is counted. And who has left
    // gets nothing, and has been waited for already.
    if (request.method !== 'GET' || isSmallAnswer || reply.raw.destroyed) {
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
