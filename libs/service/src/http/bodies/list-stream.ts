import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Semaphore } from '@rest-services/concurrency';
import { isOverload } from '@rest-services/errors';
import type { FastifyReply } from 'fastify';

/** Maximum length of one write, because the system keeps a copy of unread bytes. */
const WRITE_BYTES = 64 * 1_024;

/** Delay before a list tries again to read its next chunk. */
const RETRY_DELAY_MS = 100;

/** Time of overload after which a list stops to retry, and its connection is closed. */
const MAX_RETRIES_MS = 30_000;

/** Lists read their next chunks over 4 connections at most, which leaves most of the usual ten to other requests. */
const listReads = new Semaphore(4);

/** A chunk of a list in JSON, without its rows, which may be as large. */
export interface JsonChunk {
  bytes: Buffer;
  next: (() => Promise<JsonChunk>) | undefined;
}

/** Makes the stream of a list, whose current chunk counts as a body in memory until the client has read it. */
export function streamChunks({ raw, server: { bodyMemory } }: FastifyReply, first: JsonChunk) {
  let countedBytes = 0;
  count(first.bytes.length);
  // A stream that is never read does not run its generator.
  return Readable.from(writesOf(first)).once('close', () => count(0));

  function count(bytes: number) {
    bodyMemory.bytes += bytes - countedBytes;
    countedBytes = bytes;
  }

  async function* writesOf(chunk: JsonChunk) {
    for (;;) {
      const { next } = chunk;
      const { length } = chunk.bytes;
      for (let at = 0; at < length; at += WRITE_BYTES) yield chunk.bytes.subarray(at, at + WRITE_BYTES);
      // The generator would keep the bytes, which are not counted any more.
      chunk.bytes = Buffer.alloc(0);
      count(0);
      if (!next) break;
      const following = await readNext(next);
      if (!following) return;
      chunk = following;
    }
    yield ']';
  }

  /**
   * Reads the next chunk while there is memory for it. Retries under overload, because a client with the first chunk can't be
   * told to try again. @returns `undefined` when the client has left
   */
  async function readNext(next: () => Promise<JsonChunk>) {
    const deadline = performance.now() + MAX_RETRIES_MS;
    while (!raw.destroyed) {
      try {
        const chunk = await listReads.run(async () => {
          if (bodyMemory.isFull || raw.destroyed) return undefined;
          const read = await next();
          count(read.bytes.length);
          return read;
        });
        if (chunk) return chunk;
      } catch (error) {
        if (!isOverload(error) || performance.now() > deadline) throw error;
      }
      await sleep(RETRY_DELAY_MS);
    }
    return undefined;
  }
}
