import type { Distribution } from '@rest-services/database';
import type { Metric, Registry } from 'prom-client';

/** A value of a metric. The name is that of the metric unless a histogram gives another. */
interface Sample {
  metricName?: string;
  labels: Record<string, string | number>;
  value: number;
}

/** Adds metrics whose values others have: those of prom-client take a microsecond for each value that is counted. */
export class CollectedMetrics {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  gauge(name: string, help: string, collect: () => number | Sample[]) {
    this.#add('gauge', name, help, collect);
  }

  counter(name: string, help: string, collect: () => number | Sample[]) {
    this.#add('counter', name, help, collect);
  }

  histogram(name: string, help: string, distribution: Distribution) {
    this.#add('histogram', name, help, () => distributed(name, distribution));
  }

  #add(type: string, name: string, help: string, collect: () => number | Sample[]) {
    const get = () => {
      const collected = collect();
      const values = typeof collected === 'number' ? [{ labels: {}, value: collected }] : collected;
      return Promise.resolve({ name, help, type, aggregator: 'sum', values });
    };
    // The registry needs no more of a metric than its name and `get`.
    this.#registry.registerMetric({ name, get } as unknown as Metric);
  }
}

/** A sample for each value of a label. */
export const by = (label: string, values: Iterable<readonly [string, number]>): Sample[] =>
  Array.from(values, ([name, value]) => ({ labels: { [label]: name }, value }));

function distributed(name: string, { bounds, counts, sum }: Distribution): Sample[] {
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
