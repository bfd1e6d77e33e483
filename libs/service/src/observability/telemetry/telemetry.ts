// `bundle.ts` makes a file of this module, telemetry.js. It has a copy of @opentelemetry/api, which shares its state with that in main.js.
import { FastifyOtelInstrumentation } from '@fastify/otel';
import { diag, DiagLogLevel, type Span } from '@opentelemetry/api';
import { getNumberFromEnv, getStringFromEnv, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  hostDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { logRecordOf } from './log-record.ts';
import { scopeMetricsOf } from './scope-metrics.ts';

/** Minimum time between two log lines about exports: with the receiver down, there is a failure every second. */
const REPORT_INTERVAL_MS = 60_000;

interface Exported {
  service: string;
  version: string;
  registry: Registry;
  log: FastifyBaseLogger;
  /** Calls its argument with each line of the log that is to be exported. */
  copyLog: (receive: (line: string) => void) => void;
}

/** A Fastify plugin that starts a span for each request, which continues the trace in its `traceparent`, and ends it with the response. */
export function requestSpans(onStart: (span: Span, request: FastifyRequest) => void) {
  return new FastifyOtelInstrumentation({
    instrumentHooks: false,
    instrumentHandler: false,
    requestHook: onStart,
    // Routes, not requests: otherwise the span would end before the response has been sent, and any 404 would be an error.
    ignorePaths: (options) => 'handler' in options,
  }).plugin();
}

/**
 * Exports spans, metrics and the log by OTLP, as the variables of OpenTelemetry say. Failures are logged, and reach no request.
 * @returns a function that exports the rest, and then no more
 */
export function startExport({ service, version, registry, log, copyLog }: Exported): () => Promise<void> {
  reportErrors(log);
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': service, 'service.version': version }))
    .merge(detectResources({ detectors: [hostDetector, serviceInstanceIdDetector, envDetector] }));
  const spanProcessors = isExported('TRACES') ? [new BatchSpanProcessor(new OTLPTraceExporter())] : [];
  const tracerProvider = new NodeTracerProvider({ resource, spanProcessors });
  tracerProvider.register();
  const providers: { shutdown: () => Promise<void> }[] = [tracerProvider];

  if (isExported('METRICS')) {
    const intervalMs = getNumberFromEnv('OTEL_METRIC_EXPORT_INTERVAL');
    const reader = new PeriodicExportingMetricReader({
      exporter: new OTLPMetricExporter(),
      ...(intervalMs === undefined ? {} : { exportIntervalMillis: intervalMs }),
      metricProducers: [
        {
          collect: async () => {
            const scopeMetrics = [scopeMetricsOf(await registry.getMetricsAsJSON(), { name: service, version })];
            return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
          },
        },
      ],
    });
    providers.push(new MeterProvider({ resource, readers: [reader] }));
  }

  if (isExported('LOGS')) {
    const processors = [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })];
    const loggerProvider = new LoggerProvider({ resource, processors });
    const logger = loggerProvider.getLogger(service, version);
    copyLog((line) => logger.emit(logRecordOf(line)));
    providers.push(loggerProvider);
  }

  return async () => {
    await Promise.allSettled(providers.map((provider) => provider.shutdown()));
  };
}

const isExported = (signal: 'TRACES' | 'METRICS' | 'LOGS') => getStringFromEnv(`OTEL_${signal}_EXPORTER`) !== 'none';

function reportErrors(log: FastifyBaseLogger) {
  let reportedAt = -Infinity;
  const report = (error: unknown) => {
    if (performance.now() - reportedAt < REPORT_INTERVAL_MS) return;
    reportedAt = performance.now();
    const err = error instanceof Error ? error : new Error(String(error));
    log.warn({ err }, 'Telemetry not exported');
  };
  setGlobalErrorHandler(report);
  const ignore = () => undefined;
  diag.setLogger({ error: report, warn: report, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN);
}
