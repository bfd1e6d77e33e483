/** What one measurement of one contestant has found. Figures that the system or the tool does not give are missing. */
export interface Sample {
  perSecond: number;
  p50Ms?: number | undefined;
  p99Ms?: number | undefined;
  /** CPU time per request, in microseconds. */
  serviceCpuUs?: number | undefined;
  databaseCpuUs?: number | undefined;
  rssMb?: number | undefined;
}

/** Everything measured of one scenario with one number of connections: by contestant, a sample for each round. */
export interface Cell {
  scenario: string;
  connections: number;
  samples: Map<string, Sample[]>;
}

export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** @returns `undefined` for an empty array */
export function spreadOf(values: number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return {
    median: (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2,
    min: sorted[0]!,
    max: sorted.at(-1)!,
  };
}

/** What is compared, each as a number of a sample. */
export const metrics = {
  requests: ({ perSecond }: Sample) => perSecond,
  cpu: ({ serviceCpuUs, databaseCpuUs }: Sample) =>
    serviceCpuUs === undefined || databaseCpuUs === undefined ? undefined : serviceCpuUs + databaseCpuUs,
};

/**
 * The spread of a contestant's figure divided by another's. Only samples of the same round are divided by each other,
 * so that what slows the machine for a while slows both.
 * @returns `undefined` where one of them was not measured
 */
export function ratioOf(
  { samples }: Cell,
  numerator: string,
  denominator: string,
  metric: (sample: Sample) => number | undefined,
): Spread | undefined {
  const others = samples.get(denominator) ?? [];
  const ratios = (samples.get(numerator) ?? []).flatMap((sample, round) => {
    const [figure, other] = [metric(sample), others[round] && metric(others[round])];
    return figure !== undefined && other ? [figure / other] : [];
  });
  return spreadOf(ratios);
}
