import { isDone, rowsOf, type Operation } from '../history.ts';
import type { Freeze } from '../system/faults.ts';

/** A list of a larger limit is read in several chunks, each as it was at its own time. */
const SNAPSHOT_ROWS = 250;

/** Maximum time of a request, and the margin of a busy machine. */
const REQUEST_MS = 3_000;
const MARGIN_MS = 1_500;

export function unexpectedResponse(operation: Operation) {
  const { response, error } = operation;
  if (error === 'SyntaxError') return 'A whole response is not JSON';
  if (!response || isDone(operation) || [500, 503].includes(response.status)) return undefined;
  const { key, ifMatch, idempotencyKey } = operation;
  const causes: Record<number, unknown> = { 404: key, 412: ifMatch, 422: idempotencyKey };
  return causes[response.status] !== undefined ? undefined : `Unexpected status ${response.status}`;
}

export function responseOfAnotherRequest(operation: Operation) {
  const { response, requestId, kind, key } = operation;
  if (!response || operation.service === undefined) return undefined;
  if (response.requestId !== requestId) return `X-Request-Id is ${response.requestId}`;
  if (!isDone(operation)) return undefined;
  const { id, message } = response.body as { id?: number; message?: string };
  const isOfKind = {
    create: () => response.status === 201 && typeof id === 'number',
    read: () => id === key,
    update: () => message === 'Item updated successfully',
    delete: () => message === 'Item deleted successfully',
    list: () => Array.isArray(response.body) && response.total !== undefined,
    summary: () => typeof (response.body as { total?: number }).total === 'number',
  }[kind]();
  return isOfKind ? undefined : `The response is not that of ${kind === 'read' ? `item ${key}` : `a ${kind}`}`;
}

export function brokenPage(operation: Operation) {
  const { kind, response, position } = operation;
  if (kind !== 'list' || !isDone(operation)) return undefined;
  const rows = rowsOf(operation);
  const unordered = rows.find(({ id }, index) => index > 0 && id <= rows[index - 1]!.id);
  if (unordered) return `Item ${unordered.id} is not in the order of the ids`;
  const { offset, limit } = position!;
  const expected = Math.min(limit, Math.max(0, response!.total! - offset));
  if (limit <= SNAPSHOT_ROWS && rows.length !== expected) {
    return `The page has ${rows.length} rows; with a total of ${response!.total}, it must have ${expected}`;
  }
  return undefined;
}

export function lateResponse(operation: Operation, freezes: Freeze[]) {
  const { startedAt, endedAt, service } = operation;
  if (service === undefined) return undefined;
  const ms = endedAt - startedAt;
  const isFrozen = freezes.some(
    (freeze) => freeze.service === service && freeze.from < endedAt && freeze.to > startedAt,
  );
  return ms > REQUEST_MS + MARGIN_MS && !isFrozen ? `The request took ${ms.toFixed()} ms` : undefined;
}
