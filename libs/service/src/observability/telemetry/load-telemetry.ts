import type { Settings } from '../../settings.ts';

/** OpenTelemetry where it is used. Otherwise its code is not loaded, and a start takes as long as without it. */
export async function loadTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED }: Settings) {
  return OTEL_EXPORTER_OTLP_ENDPOINT === undefined || OTEL_SDK_DISABLED ? undefined : import('./telemetry.ts');
}
