/** What a process holds at a moment. */
export interface Sample {
  /** Minutes since the start. */
  minute: number;
  memoryBytes: number;
  descriptors: number;
}

/** Minimum number of samples after the warm-up that tell a trend. */
const MIN_SAMPLES = 8;

/** Part of the samples in which a process warms up. */
const WARM_UP = 0.25;

/** Growth that is noise: V8 collects the old generation when it has grown by 30 %. */
const MEMORY_NOISE = 0.1;
const DESCRIPTOR_NOISE = 5;

/** How one figure changes after the warm-up. */
interface Trend {
  from: number;
  to: number;
  perMinute: number;
  /** Whether it grows more than noise; `undefined` after too few samples. */
  isGrowing: boolean | undefined;
}

/** The trends of a process, each by the line of least squares. */
export function trendsOf(samples: readonly Sample[]): { memory: Trend; descriptors: Trend } {
  const warm = samples.slice(Math.floor(samples.length * WARM_UP));
  return {
    memory: trend(warm, ({ memoryBytes }) => memoryBytes, MEMORY_NOISE * (warm[0]?.memoryBytes ?? 0)),
    descriptors: trend(warm, ({ descriptors }) => descriptors, DESCRIPTOR_NOISE),
  };
}

function trend(samples: readonly Sample[], valueOf: (sample: Sample) => number, noise: number): Trend {
  const [first, last] = [samples[0]!, samples.at(-1)!];
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const minute = mean(samples.map((sample) => sample.minute));
  const value = mean(samples.map(valueOf));
  const spread = samples.map((sample) => (sample.minute - minute) ** 2).reduce((sum, each) => sum + each, 0);
  const shared = samples
    .map((sample) => (sample.minute - minute) * (valueOf(sample) - value))
    .reduce((sum, each) => sum + each, 0);
  const perMinute = spread === 0 ? 0 : shared / spread;
  const growth = perMinute * (last.minute - first.minute);
  return {
    from: valueOf(first),
    to: valueOf(last),
    perMinute,
    isGrowing: samples.length < MIN_SAMPLES ? undefined : growth > noise,
  };
}
