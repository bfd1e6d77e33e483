// `bundle.ts` makes a file of this module, telemetry.js. It has a copy of @opentelemetry/api, which shares its state with that in main.js.
import { diag, DiagLogLevel } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  hostDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { FastifyBaseLogger } from 'fastify';
import { version } from '../../version.ts';

/** Minimum time between two log lines about exports: with the receiver down, there is a failure every second. */
const REPORT_INTERVAL_MS = 60_000;

/**
 * Exports spans by OTLP, as the variables of OpenTelemetry say. Failures are logged, and reach no request.
 * @returns a function that exports the rest, and then no more
 */
export function startExport(service: string, log: FastifyBaseLogger): () => Promise<void> {
  reportErrors(log);
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': service, 'service.version': version }))
    .merge(detectResources({ detectors: [hostDetector, serviceInstanceIdDetector, envDetector] }));
  const spanProcessors = [new BatchSpanProcessor(new OTLPTraceExporter())];
  const provider = new NodeTracerProvider({ resource, spanProcessors });
  provider.register();
  return () => provider.shutdown().catch(() => undefined);
}

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
