/** How long a call may wait for its turn. */
export interface Patience {
  /** A time of `performance.now()`. A call whose turn comes at once begins even after it. */
  deadline: number;
  /** Makes the error of a call that has not begun by the deadline, and never will. */
  onLate: () => Error;
}

/**
 * Limits how many calls run at once; the others wait in their order. Unlike p-limit, it costs next to nothing to create: each
 * changed row has one.
 */
export class Semaphore {
  readonly #capacity: number;
  #running = 0;
  readonly #waiting = new Set<() => void>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get isFull() {
    return this.#running >= this.#capacity;
  }

  get isIdle() {
    return this.#running === 0;
  }

  get waiting() {
    return this.#waiting.size;
  }

  async run<Result>(work: () => Promise<Result>, patience?: Patience): Promise<Result> {
    if (this.isFull) await this.#waitForTurn(patience);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      // A call that ends hands its place to the next one, so that no call in between can take it.
      const [next] = this.#waiting;
      if (next) next();
      else this.#running -= 1;
    }
  }

  #waitForTurn(patience: Patience | undefined) {
    return new Promise<void>((resolve, reject) => {
      const begin = () => {
        this.#waiting.delete(begin);
        clearTimeout(timer);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.delete(begin);
        reject(patience!.onLate());
      };
      const timer = patience && setTimeout(giveUp, Math.max(1, patience.deadline - performance.now()));
      this.#waiting.add(begin);
    });
  }
}
