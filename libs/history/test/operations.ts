import { findViolations } from '../src/checks/checks.ts';
import type { Operation } from '../src/history.ts';

type Times = [startedAt: number, endedAt: number];

let requests = 0;
/** Without a status, the outcome is unknown. */
export function operation(times: Times, given: Partial<Operation>, status?: number, body: unknown = {}): Operation {
  const requestId = `request-${(requests += 1)}`;
  return {
    ...{ kind: 'read', client: 'client', service: 0, method: 'GET', path: '/v1/items', requestId },
    ...{ ...given, startedAt: times[0], endedAt: times[1] },
    ...(status && { response: { status, requestId, body } }),
  };
}

/** Without an id, the outcome is unknown. */
export const create = (times: Times, title: string, id?: number, idempotencyKey?: string) =>
  operation(times, { kind: 'create', body: { title }, ...(idempotencyKey && { idempotencyKey }) }, id && 201, { id });

/** A create whose key belongs to another one. */
export const refused = (times: Times, title: string, idempotencyKey: string) =>
  operation(times, { kind: 'create', body: { title }, idempotencyKey }, 422);

export const update = (times: Times, title: string, status?: number, ifMatch?: string) =>
  operation(times, { kind: 'update', key: 1, body: { title }, ...(ifMatch && { ifMatch }) }, status, {
    message: 'Item updated successfully',
  });

export const remove = (times: Times, status?: number) =>
  operation(times, { kind: 'delete', key: 1 }, status, { message: 'Item deleted successfully' });

/** Without a title, the item is absent. */
export function read(times: Times, title?: string, tag?: string) {
  const found = operation(times, { kind: 'read', key: 1 }, title ? 200 : 404, { id: 1, title, status: 'Doing' });
  found.response!.tag = tag;
  return found;
}

/** @param ids of the rows, whose titles are letters: 1 is a */
export function list(times: Times, ids: number[], given: Partial<Operation> = {}, total = ids.length) {
  const rows = ids.map((id) => ({ id, title: 'abcdef'[id - 1], status: 'Doing' }));
  const page = operation(times, { kind: 'list', position: { offset: 0, limit: 100 }, ...given }, 200, rows);
  page.response!.total = total;
  return page;
}

/** Names of the checks that fail, and the number of lines that show the first one. */
export function check(...operations: Operation[]) {
  const violations = findViolations(operations);
  return [...violations.map((each) => each.check), ...violations.slice(0, 1).map(({ lines }) => lines.length)];
}
