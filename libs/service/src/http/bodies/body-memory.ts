import type { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { Semaphore } from '@rest-services/concurrency';
import { overloaded } from '@rest-services/errors';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { lingeringClose } from '../connections/connections.ts';
import { MemoryBudget } from './memory-budget.ts';

/** Maximum length of an uncounted request body, of which hundreds take little memory. */
const MAX_UNCOUNTED_REQUEST_BYTES = 4 * 1_024;

/** Maximum length of an uncounted response, which the system's buffers take at once. */
const MAX_UNCOUNTED_RESPONSE_BYTES = 64 * 1_024;

/** Size of the blocks that chunks are copied into, because Node.js keeps hundreds of bytes beside each chunk of a single byte. */
const BLOCK_BYTES = 16 * 1_024;

const isUncountedRequest = ({ headers }: IncomingMessage) =>
  !headers['transfer-encoding'] && Number(headers['content-length'] ?? 0) <= MAX_UNCOUNTED_REQUEST_BYTES;

function countedBody(raw: IncomingMessage, { raw: response }: FastifyReply, budget: MemoryBudget, limit: number) {
  const body = new CountedBody(budget, limit);
  // The rest of the body is read and dropped, because the next request follows it.
  body.on('error', () => raw.resume());
  raw.on('error', (error) => body.destroy(error));
  response.once('close', () => {
    raw.unpipe(body).resume();
    budget.release(body.bytes);
  });
  return raw.pipe(body);
}

/**
 * A body as it arrives, read or not. Keeps up to 32 KiB more than `limit`, because the body parser has to notice that it is too
 * large, and drops the rest.
 * @throws OverloadedError when the budget is full
 */
class CountedBody extends Transform {
  bytes = 0;
  readonly #budget: MemoryBudget;
  readonly #maxBytes: number;
  #block = Buffer.alloc(0);
  #used = 0;

  constructor(budget: MemoryBudget, limit: number) {
    const most = limit + 2 * BLOCK_BYTES;
    super({ readableHighWaterMark: most + 1 });
    this.#budget = budget;
    this.#maxBytes = most;
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback) {
    for (let at = 0; at < chunk.length;) {
      if (this.#used === this.#block.length) {
        if (this.bytes >= this.#maxBytes) break;
        this.#startBlock();
      }
      const copied = chunk.copy(this.#block, this.#used, at);
      this.#used += copied;
      at += copied;
    }
    done(this.#budget.isFull ? overloaded('memory') : null);
  }

  override _flush(done: TransformCallback) {
    done(null, this.#block.subarray(0, this.#used));
  }

  #startBlock() {
    if (this.#used > 0) this.push(this.#block);
    this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#used = 0;
    this.bytes += BLOCK_BYTES;
    this.#budget.reserve(BLOCK_BYTES);
  }
}

/** Responds 503 to requests whose bodies or responses are counted while the budget for them is full. */
export function boundBodyMemory(app: FastifyInstance) {
  const budget = new MemoryBudget();
  app.decorate('memoryBudget', budget);
  app.decorate('listReads', new Semaphore(4));
  const bodies = new WeakMap<IncomingMessage, CountedBody>();

  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    if (!isUncountedRequest(raw)) {
      const isRead = raw.method !== 'GET' && raw.method !== 'HEAD';
      if (isRead) bodies.set(raw, countedBody(raw, reply, budget, request.routeOptions.bodyLimit));
      else raw.resume();
    }
    done();
  });
  app.addHook('preParsing', ({ raw }, _reply, payload, done) => {
    const body = isUncountedRequest(raw) ? undefined : bodies.get(raw);
    done(body?.errored, body ?? payload);
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    // Fastify closes the connection with the response to a body that is too large. Here the rest of the body is read and dropped
    // until its timeout, unless the response has the header for another reason, such as a drain.
    if (reply.hasHeader('connection') && !reply.raw.hasHeader('connection')) reply.removeHeader('connection');
    lingeringClose(request.raw, reply.raw);
    const isUncountedResponse = typeof payload !== 'string' || payload.length <= MAX_UNCOUNTED_RESPONSE_BYTES;
    // A write has been committed, which a 503 would deny; its response is not larger than its request, which is counted.
    if (request.method !== 'GET' || isUncountedResponse || reply.raw.destroyed) {
      done(null, payload);
      return;
    }
    if (budget.isFull) {
      done(overloaded('memory'));
      return;
    }
    // Node.js keeps two copies of a string until it has been sent.
    const bytes = Buffer.from(payload);
    budget.reserve(bytes.length);
    reply.raw.once('close', () => budget.release(bytes.length));
    done(null, bytes);
  });
}
