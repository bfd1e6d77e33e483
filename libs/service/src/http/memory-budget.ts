import type { Semaphore } from '@rest-services/concurrency';

/** Maximum of all bodies in memory together. */
const MAX_BYTES = 32 * 1_024 ** 2;

/**
 * Counts the bytes of request bodies until their responses are sent, and of responses until they are read. Otherwise, some hundreds
 * of slow clients with 1 MiB each fill a small container.
 */
export class MemoryBudget {
  #bytes = 0;
  readonly #waiting: (() => void)[] = [];

  get isFull() {
    return this.#bytes > MAX_BYTES;
  }

  reserve(bytes: number) {
    this.#bytes += bytes;
  }

  release(bytes: number) {
    this.#bytes -= bytes;
    while (!this.isFull && this.#waiting.length > 0) this.#waiting.shift()!();
  }

  /** Reserves when the budget is not full, first come, first served. */
  async reserveWhenFree(bytes: number) {
    if (!this.isFull) {
      this.reserve(bytes);
      return;
    }
    await new Promise<void>((resolve) => {
      this.#waiting.push(() => {
        this.reserve(bytes);
        resolve();
      });
    });
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    memoryBudget: MemoryBudget;
    /** Lists read their next chunks over 4 connections at most, which leaves most of the usual ten to other requests. */
    listReads: Semaphore;
  }
}
