import { createContextKey, trace, type Context, type Span } from '@opentelemetry/api';

const CALLERS = createContextKey('spans of the calls that share the work');

/**
 * Context for work that several calls share: that of the first call whose span is recorded, with the spans of all of them. Without
 * telemetry, contexts are one empty constant.
 */
export function sharedContext(contexts: readonly Context[]): Context {
  const [first, ...others] = contexts as [Context, ...Context[]];
  if (others.length === 0) return first;
  const recorded = contexts.filter((context) => trace.getSpan(context)?.isRecording());
  if (recorded.length === 0) return first;
  return recorded[0]!.setValue(CALLERS, new Set(recorded.flatMap((context) => callersOf(context))));
}

/** Recorded spans of the calls that share the work in this context, or the span of the only one. */
export function callersOf(context: Context): Span[] {
  const callers = context.getValue(CALLERS) as Set<Span> | undefined;
  if (callers) return [...callers];
  const span = trace.getSpan(context);
  return span?.isRecording() ? [span] : [];
}
