import type { Attributes } from '@opentelemetry/api';
import { ValueType } from '@opentelemetry/api';
import { hrTime, millisToHrTime, type InstrumentationScope } from '@opentelemetry/core';
import {
  AggregationTemporality,
  DataPointType,
  type DataPoint,
  type HistogramMetricData,
  type MetricData,
  type ScopeMetrics,
} from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValue, MetricValueWithName } from 'prom-client';

type Metric = MetricObjectWithValues<MetricValue<string>>;

/** Metrics of prom-client in the shape of OpenTelemetry, under the names that `/metrics` has. */
export function scopeMetricsOf(metrics: unknown[], scope: InstrumentationScope): ScopeMetrics {
  return { scope, metrics: (metrics as Metric[]).map((metric) => metricDataOf(metric)) };
}

function metricDataOf(metric: Metric): MetricData {
  const { name, help, values } = metric;
  // A string at run time, whatever its type says.
  const type = metric.type as unknown as 'counter' | 'gauge' | 'histogram';
  const common = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (type === 'histogram') {
    return {
      ...common,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: histogramsOf(values),
    };
  }
  const dataPoints = values.map(({ labels, value }) => dataPoint(labels as Attributes, value));
  return type === 'counter'
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
}

/** Joins the values of each set of labels, whose buckets count those before them, too. */
function histogramsOf(values: MetricValueWithName<string>[]): HistogramMetricData['dataPoints'] {
  const groups = Map.groupBy(values, (value) => JSON.stringify(labelsOf(value)));
  return Array.from(groups.values(), (group) => {
    const buckets = group.filter(({ metricName }) => metricName!.endsWith('_bucket'));
    const valueOf = (suffix: string) => group.find(({ metricName }) => metricName!.endsWith(suffix))?.value ?? 0;
    return dataPoint(labelsOf(group[0]!), {
      buckets: {
        boundaries: buckets.slice(0, -1).map(({ labels }) => Number(labels.le)),
        counts: buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0)),
      },
      sum: valueOf('_sum'),
      count: valueOf('_count'),
    });
  });
}

const labelsOf = ({ labels }: MetricValue<string>) =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'le')) as Attributes;

const dataPoint = <Value>(attributes: Attributes, value: Value): DataPoint<Value> => ({
  startTime: millisToHrTime(performance.timeOrigin),
  endTime: hrTime(),
  attributes,
  value,
});
