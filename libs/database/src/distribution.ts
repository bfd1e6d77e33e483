/** Counts values by upper bound in plain numbers, which costs less than 0.1 µs: requests add values, and metrics read them. */
export class Distribution {
  readonly bounds: readonly number[];
  /** Number of values up to each bound and above the one before it; the last counts those above all bounds. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  add(value: number) {
    let bucket = 0;
    while (value > this.bounds[bucket]!) bucket += 1;
    this.counts[bucket]! += 1;
    this.sum += value;
  }
}
