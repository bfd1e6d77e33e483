import type { Semaphore } from '@rest-services/concurrency';

/** Maximum of all bodies in memory together. */
const MAX_BYTES = 32 * 1_024 ** 2;

/**
 * Counts the bytes of request bodies until their responses are sent, and of responses until they are read. Otherwise, some hundreds
 * of slow clients with 1 MiB each fill a container of 256 MB.
 */
export class MemoryBudget {
  #bytes = 0;

  get isFull() {
    return this.#bytes > MAX_BYTES;
  }

  reserve(bytes: number) {
    this.#bytes += bytes;
  }

  release(bytes: number) {
    this.#bytes -= bytes;
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    memoryBudget: MemoryBudget;
    /** Lists read their next chunks over 4 connections at most, which leaves most of the usual ten to other requests. */
    listReads: Semaphore;
  }
}
