import type { Distribution } from '@rest-services/database';
import type { Metric } from 'prom-client';

/** A value of a metric. The name is that of the metric unless a histogram gives another. */
interface Sample {
  metricName?: string;
  labels: Record<string, string | number>;
  value: number;
}

/** Makes a metric whose samples others have: those of prom-client take a microsecond for each value that is counted. */
export function collectedMetric(
  type: 'gauge' | 'counter' | 'histogram',
  name: string,
  help: string,
  collect: () => Sample[],
) {
  const get = () => Promise.resolve({ name, help, type, aggregator: 'sum', values: collect() });
  // The registry needs no more of a metric than its name and `get`.
  return { name, get } as unknown as Metric;
}

/** A sample without a label. */
export const single = (value: number): Sample[] => [{ labels: {}, value }];

/** A sample for each value of a label. */
export const by = (label: string, values: Iterable<readonly [string, number]>): Sample[] =>
  Array.from(values, ([name, value]) => ({ labels: { [label]: name }, value }));

/** The samples of a histogram. */
export function distributed(name: string, { bounds, counts, sum }: Distribution): Sample[] {
  let count = 0;
  const buckets = counts.map((value, index) => ({
    metricName: `${name}_bucket`,
    labels: { le: bounds[index] ?? '+Inf' },
    value: (count += value),
  }));
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: {}, value: sum },
    { metricName: `${name}_count`, labels: {}, value: count },
  ];
}
