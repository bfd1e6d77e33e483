import { ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api';
import { SeverityNumber, type AnyValueMap, type LogRecord } from '@opentelemetry/api-logs';

/** Names that OpenTelemetry has for the levels of pino, whose numbers are 10, 20 and so on. */
const SEVERITIES = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'] as const;

interface Line extends AnyValueMap {
  level: number;
  time: number;
  msg: string;
}

/** Makes a log record of a JSON line. Errors and ids of traces get the places that OpenTelemetry has for them. */
export function logRecordOf(line: string): LogRecord {
  const { level, time, msg, trace_id: traceId, span_id: spanId, err, ...fields } = JSON.parse(line) as Line;
  const { type, message, stack } = (err ?? {}) as AnyValueMap;
  const severity = SEVERITIES[level / 10 - 1]!;
  return {
    timestamp: time,
    severityNumber: SeverityNumber[severity],
    severityText: severity,
    body: msg,
    attributes: {
      ...fields,
      ...(err ? { 'exception.type': type, 'exception.message': message, 'exception.stacktrace': stack } : {}),
    },
    context: traceId
      ? trace.setSpanContext(ROOT_CONTEXT, {
          traceId: traceId as string,
          spanId: spanId as string,
          traceFlags: TraceFlags.NONE,
        })
      : ROOT_CONTEXT,
  };
}
