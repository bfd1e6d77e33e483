import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Semaphore } from '@rest-services/concurrency';
import type { List } from '@rest-services/database';
import { isOverload, overloaded } from '@rest-services/errors';
import type { FastifyReply } from 'fastify';
import { isUnmodified, weakTagOf } from './conditional-requests.ts';
import type { MemoryBudget } from './memory-budget.ts';

/** Maximum length of one write, because the system keeps a copy of unread bytes. */
const WRITE_BYTES = 64 * 1_024;

/** Delay before a list retries its next chunk under overload. */
const RETRY_DELAY_MS = 100;

/** Time after which a list stops to retry, and its connection is closed. */
const MAX_RETRIES_MS = 30_000;

/**
 * Responds with a JSON array. A list of several chunks is streamed as fast as the client reads, so that memory holds a chunk of it;
 * a failure after the first chunk closes the connection, because the status has been sent.
 * @throws OverloadedError when the list has several chunks and the memory budget is full
 */
export function sendList<Row>(reply: FastifyReply, list: List<Row>) {
  const serialise = reply.getSerializationFunction('200') ?? JSON.stringify;
  void reply.type('application/json; charset=utf-8');
  if (!list.next) {
    return reply.send((list.json ??= serialise(list.rows)));
  }
  if (list.version !== undefined && isUnmodified(reply, weakTagOf(list.version))) {
    reply.code(304).removeHeader('content-type');
    return reply.send();
  }
  if (reply.request.method === 'HEAD') return reply.send(Readable.from([]));
  // Fastify would log a stream that ends before its first chunk as a failure of the service.
  if (reply.raw.destroyed) return reply.send('');

  const { memoryBudget, listReads } = reply.server;
  if (memoryBudget.isFull) throw overloaded('memory');
  const elements = (rows: readonly Row[]) => serialise(rows).slice(1, -1);
  const chunkOf = ({ rows, next }: List<Row>): Chunk => ({
    bytes: Buffer.from(rows.length > 0 ? `,${elements(rows)}` : ''),
    next: next && (async () => chunkOf(await next())),
  });
  const first = { ...chunkOf({ rows: [], next: list.next }), bytes: Buffer.from(`[${elements(list.rows)}`) };
  const reservation = new Reservation(memoryBudget, first.bytes.length);
  const stream = Readable.from(writesOf(first, reservation, listReads, () => reply.raw.destroyed));
  // A stream that is never read does not run its generator.
  stream.once('close', () => reservation.release());
  return reply.send(stream);
}

/** A chunk of a list in JSON, without its rows, which may be as large. */
interface Chunk {
  bytes: Buffer;
  next: (() => Promise<Chunk>) | undefined;
}

/** Memory of the current chunk of a list. */
class Reservation {
  readonly budget: MemoryBudget;
  #bytes = 0;

  constructor(budget: MemoryBudget, bytes: number) {
    this.budget = budget;
    this.reserve(bytes);
  }

  reserve(bytes: number) {
    this.budget.reserve(bytes);
    this.#bytes += bytes;
  }

  release() {
    this.budget.release(this.#bytes);
    this.#bytes = 0;
  }
}

async function* writesOf(chunk: Chunk, reservation: Reservation, reads: Semaphore, hasLeft: () => boolean) {
  for (;;) {
    const { next } = chunk;
    const { length } = chunk.bytes;
    try {
      for (let at = 0; at < length; at += WRITE_BYTES) yield chunk.bytes.subarray(at, at + WRITE_BYTES);
    } finally {
      reservation.release();
    }
    if (!next) break;
    // The generator would keep the bytes, which are not counted any more.
    chunk.bytes = Buffer.alloc(0);
    const following = await retryOverload(reads, async () =>
      hasLeft() ? undefined : readNext(next, length, reservation),
    );
    if (!following) return;
    chunk = following;
  }
  yield ']';
}

/** Retries reads that fail under overload, because a client with the first chunk can't be told to try again. */
async function retryOverload<Result>(reads: Semaphore, read: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + MAX_RETRIES_MS;
  for (;;) {
    try {
      return await reads.run(read);
    } catch (error) {
      if (!isOverload(error) || performance.now() > deadline) throw error;
      await sleep(RETRY_DELAY_MS);
    }
  }
}

/**
 * Reads the next chunk when the memory budget has room for one as long as the last, because its length is not known before.
 * @returns the chunk, whose memory is reserved
 */
async function readNext(next: () => Promise<Chunk>, lastLength: number, reservation: Reservation) {
  await reservation.budget.reserveWhenFree(lastLength);
  try {
    const chunk = await next();
    reservation.reserve(chunk.bytes.length);
    return chunk;
  } finally {
    reservation.budget.release(lastLength);
  }
}
