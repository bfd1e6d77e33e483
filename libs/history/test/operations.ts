import { findViolations } from '../src/checks/checks.ts';
import type { Operation } from '../src/history.ts';

type Times = [startedAt: number, endedAt: number];

let requests = 0;
export const operation = (
  times: Times,
  given: Partial<Operation> & Pick<Operation, 'kind' | 'method' | 'path'>,
): Operation => {
  const requestId = `request-${(requests += 1)}`;
  const { response, ...rest } = given;
  return {
    ...{ client: 'client', service: 0, ...rest, requestId, startedAt: times[0], endedAt: times[1] },
    ...(response && { response: { ...response, requestId } }),
  };
};
export const response = (status: number, body: unknown, total?: number) => ({
  status,
  body,
  total,
  requestId: undefined,
});

/** Without an id, the outcome is unknown. */
export const create = (times: Times, title: string, id?: number, idempotencyKey?: string) =>
  operation(times, {
    ...{
      kind: 'create',
      method: 'POST',
      path: '/v1/items',
      body: { title },
      ...(idempotencyKey && { idempotencyKey }),
    },
    ...(id === undefined ? {} : { response: response(201, { id }) }),
  });
/** A create whose key belongs to another one. */
export const refused = (times: Times, title: string, idempotencyKey: string) =>
  operation(times, { ...create(times, title, undefined, idempotencyKey), response: response(422, {}) });
/** Without a status, the outcome is unknown. */
export const update = (times: Times, title: string, status?: number, ifMatch?: string) =>
  operation(times, {
    ...{ kind: 'update', method: 'PUT', path: '/v1/items/1', key: 1, body: { title }, ...(ifMatch && { ifMatch }) },
    ...(status && { response: response(status, { message: 'Item updated successfully' }) }),
  });
export const remove = (times: Times, status?: number) =>
  operation(times, {
    ...{ kind: 'delete', method: 'DELETE', path: '/v1/items/1', key: 1 },
    ...(status && { response: response(status, { message: 'Item deleted successfully' }) }),
  });
/** Without a title, the item is absent. */
export const read = (times: Times, title?: string, tag?: string) =>
  operation(times, {
    ...{ kind: 'read', method: 'GET', path: '/v1/items/1', key: 1 },
    response: title === undefined ? response(404, {}) : { ...response(200, { id: 1, title, status: 'Doing' }), tag },
  });
export const list = (times: Times, titles: string[], client = 'client') =>
  operation(times, {
    ...{ kind: 'list', method: 'GET', path: '/v1/items', client, position: { offset: 0, limit: 100 } },
    response: response(
      200,
      titles.map((title, index) => ({ id: index + 1, title, status: 'Doing' })),
      titles.length,
    ),
  });

/** Names of the checks that fail, and the number of lines that show the first one. */
export function check(...operations: Operation[]) {
  const violations = findViolations({ operations });
  return [
    ...violations.map((violation) => violation.check),
    ...violations.slice(0, 1).map(({ lines }) => lines.length),
  ];
}
