/** Minimum number of samples after the warm-up that tell a growth. */
const MIN_SAMPLES = 8;

/** Part of the samples in which a process warms up. */
const WARM_UP = 0.25;

/**
 * Growth of a figure after the warm-up by the line of least squares, which a step or noise hardly changes.
 * @param samples in equal intervals
 * @returns the first figure after the warm-up, and its growth, which is NaN for too few samples
 */
export function growthOf(samples: readonly number[]): { from: number; growth: number } {
  const warm = samples.slice(Math.floor(samples.length * WARM_UP));
  const from = warm[0]!;
  if (warm.length < MIN_SAMPLES) return { from, growth: NaN };
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  const middle = (warm.length - 1) / 2;
  const slope = sum(warm.map((value, at) => (at - middle) * value)) / sum(warm.map((_, at) => (at - middle) ** 2));
  return { from, growth: slope * (warm.length - 1) };
}
