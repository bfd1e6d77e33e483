/** Numbers that follow from a seed: mulberry32. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A number from 0 up to, but not including, 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `low` to `high`, both included. */
  integer(low: number, high: number) {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number) {
    return this.next() < probability;
  }

  pick<Element>(elements: readonly Element[]) {
    return elements[Math.floor(this.next() * elements.length)]!;
  }

  /** An independent sequence, so that the length of one does not change another. */
  fork() {
    return new Random(this.integer(0, 2 ** 31));
  }
}
