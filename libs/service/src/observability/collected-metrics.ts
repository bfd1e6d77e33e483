import { Distribution } from '@rest-services/database';
import type { Metric, Registry } from 'prom-client';

/** A value of a metric. The name is that of the metric unless a histogram gives another. */
interface Sample {
  metricName?: string;
  labels: Record<string, string | number>;
  value: number;
}

/** Adds a metric whose values others have: those of prom-client take a microsecond for each value that is counted. */
export type AddMetric = (
  type: 'gauge' | 'counter' | 'histogram',
  name: string,
  help: string,
  collect: () => number | Sample[] | Distribution,
) => void;

export const collectedMetrics =
  (registry: Registry): AddMetric =>
  (type, name, help, collect) => {
    const get = () => Promise.resolve({ name, help, type, aggregator: 'sum', values: samplesOf(name, collect()) });
    // The registry needs no more of a metric than its name and `get`.
    registry.registerMetric({ name, get } as unknown as Metric);
  };

/** A sample for each value of a label. */
export const by = (label: string, values: Iterable<readonly [string, number]>): Sample[] =>
  Array.from(values, ([name, value]) => ({ labels: { [label]: name }, value }));

function samplesOf(name: string, collected: number | Sample[] | Distribution): Sample[] {
  if (typeof collected === 'number') return [{ labels: {}, value: collected }];
  if (!(collected instanceof Distribution)) return collected;
  const { bounds, counts, sum } = collected;
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
