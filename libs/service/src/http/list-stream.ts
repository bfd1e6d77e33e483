import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Semaphore } from '@rest-services/concurrency';
import { isOverload } from '@rest-services/errors';
import type { FastifyReply } from 'fastify';
import type { MemoryBudget } from './memory-budget.ts';

/** Maximum length of one write, because the system keeps a copy of unread bytes. */
const WRITE_BYTES = 64 * 1_024;

/** Delay before a list retries its next chunk under overload. */
const RETRY_DELAY_MS = 100;

/** Time after which a list stops to retry, and its connection is closed. */
const MAX_RETRIES_MS = 30_000;

/** A chunk of a list in JSON, without its rows, which may be as large. */
export interface Chunk {
  bytes: Buffer;
  next: (() => Promise<Chunk>) | undefined;
}

/** Makes the stream of a list. The memory budget counts its current chunk until the client has read that. */
export function streamChunks({ raw, server: { memoryBudget, listReads } }: FastifyReply, first: Chunk) {
  const reservation = new Reservation(memoryBudget, first.bytes.length);
  const stream = Readable.from(writesOf(first, reservation, listReads, () => raw.destroyed));
  // A stream that is never read does not run its generator.
  return stream.once('close', () => reservation.release());
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
