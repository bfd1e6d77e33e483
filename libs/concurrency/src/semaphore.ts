/**
 * Limits how many calls run at once; the others wait in their order. Unlike p-limit, it costs next to nothing to create: each
 * changed row has one.
 */
export class Semaphore {
  readonly #capacity: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get isFull() {
    return this.#running >= this.#capacity;
  }

  get isIdle() {
    return this.#running === 0;
  }

  /** Number of calls that wait. */
  get waiting() {
    return this.#waiting.length;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    // A call that ends hands its place to the next one, so that no call in between can take it.
    if (this.isFull) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
