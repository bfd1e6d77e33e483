import { describe, expect, test } from '@jest/globals';
import { findViolations, FINAL_CLIENT } from '../src/checks/checks.ts';
import type { Operation } from '../src/history.ts';

type Times = [startedAt: number, endedAt: number];

let requests = 0;
const operation = (
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
const response = (status: number, body: unknown, total?: number) => ({ status, body, total, requestId: undefined });

/** Without an id, the outcome is unknown. */
const create = (times: Times, title: string, id?: number, idempotencyKey?: string) =>
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
const refused = (times: Times, title: string, idempotencyKey: string) =>
  operation(times, { ...create(times, title, undefined, idempotencyKey), response: response(422, {}) });
/** Without a status, the outcome is unknown. */
const update = (times: Times, title: string, status?: number, ifMatch?: string) =>
  operation(times, {
    ...{ kind: 'update', method: 'PUT', path: '/v1/items/1', key: 1, body: { title }, ...(ifMatch && { ifMatch }) },
    ...(status && { response: response(status, { message: 'Item updated successfully' }) }),
  });
const remove = (times: Times, status?: number) =>
  operation(times, {
    ...{ kind: 'delete', method: 'DELETE', path: '/v1/items/1', key: 1 },
    ...(status && { response: response(status, { message: 'Item deleted successfully' }) }),
  });
/** Without a title, the item is absent. */
const read = (times: Times, title?: string, tag?: string) =>
  operation(times, {
    ...{ kind: 'read', method: 'GET', path: '/v1/items/1', key: 1 },
    response: title === undefined ? response(404, {}) : { ...response(200, { id: 1, title, status: 'Doing' }), tag },
  });
const list = (times: Times, titles: string[], client = 'client') =>
  operation(times, {
    ...{ kind: 'list', method: 'GET', path: '/v1/items', client, position: { offset: 0, limit: 100 } },
    response: response(
      200,
      titles.map((title, index) => ({ id: index + 1, title, status: 'Doing' })),
      titles.length,
    ),
  });

/** Names of the checks that fail, and the number of lines that show the first one. */
function check(...operations: Operation[]) {
  const violations = findViolations({ operations });
  return [
    ...violations.map((violation) => violation.check),
    ...violations.slice(0, 1).map(({ lines }) => lines.length),
  ];
}

describe('A history is accepted', () => {
  test('when concurrent writes can be ordered as the reads saw them', () => {
    expect(
      check(create([0, 1], 'a', 1), update([2, 9], 'b', 200), update([2, 9], 'c', 200), read([10, 11], 'b')),
    ).toEqual([]);
    expect(check(create([0, 1], 'a', 1), update([2, 9], 'b', 200), read([3, 4], 'b'), read([5, 6], 'b'))).toEqual([]);
  });

  test('whether or not a write of unknown outcome has been done, at any time', () => {
    const before = [create([0, 1], 'a', 1), update([2, 3], 'b')];
    expect(check(...before, read([4, 5], 'a'), read([6, 7], 'a'))).toEqual([]);
    expect(check(...before, read([4, 5], 'a'), read([6, 7], 'b'))).toEqual([]);
    expect(check(create([0, 1], 'a'), list([2, 3], []), list([4, 5], ['a']))).toEqual([]);
    expect(check(create([0, 1], 'a', 1), remove([2, 3]), read([4, 5], 'a'), read([6, 7]))).toEqual([]);
  });
});

describe('A write with If-Match', () => {
  const before = [create([0, 1], 'a', 1), read([2, 3], 'a', '"1"')];

  test('is done on the version of its tag, and refused on another one', () => {
    expect(check(...before, update([4, 5], 'b', 200, '"1"'), update([6, 7], 'c', 412, '"1"'))).toEqual([]);
    expect(check(...before, update([4, 9], 'b', 200, '"1"'), update([4, 9], 'c', 412, '"1"'))).toEqual([]);
    expect(check(...before, remove([4, 9], 200), update([4, 9], 'c', 412, '"1"'))).toEqual([]);
  });

  test('must not be done on an outdated version', () => {
    expect(check(...before, update([4, 5], 'b', 200), update([6, 7], 'c', 200, '"1"'))).toEqual([
      'items are linearizable',
      3,
    ]);
    expect(check(...before, update([4, 9], 'b', 200, '"1"'), update([4, 9], 'c', 200, '"1"'))).toEqual([
      'items are linearizable',
      2,
    ]);
  });

  test('must not be refused on the version of its tag', () => {
    expect(check(...before, update([4, 5], 'b', 412, '"1"'))).toEqual(['items are linearizable', 2]);
  });

  test('of unknown outcome is not done after another write, as one without may be', () => {
    const late = (ifMatch?: string) => [
      ...[...before, update([4, 5], 'b', undefined, ifMatch), update([6, 7], 'c', 200)],
      ...[read([8, 9], 'c', '"2"'), read([10, 11], 'b', '"3"')],
    ];
    expect(check(...late())).toEqual([]);
    expect(check(...late('"1"'))).toEqual(['items are linearizable', 2]);
    expect(check(...late('"1"').slice(0, -1))).toEqual([]);
    expect(check(...late('"1"').toSpliced(3, 2))).toEqual([]);
  });

  test('needs the version that is there, whose tag no later version has again', () => {
    expect(check(...before, update([4, 5], 'a', 200), read([6, 7], 'a', '"1"'))).toEqual(['items are linearizable', 3]);
  });
});

describe('A create with a key', () => {
  test('makes one item, whichever of its requests is done', () => {
    expect(check(create([0, 1], 'a', 1, 'k'), create([2, 3], 'a', 1, 'k'), refused([4, 5], 'b', 'k'))).toEqual([]);
    expect(check(create([0, 1], 'a', undefined, 'k'), create([2, 3], 'a', 1, 'k'), read([4, 5], 'a'))).toEqual([]);
    expect(check(create([0, 1], 'a', undefined, 'k'), create([2, 3], 'b', 1, 'k'), read([4, 5], 'b'))).toEqual([]);
    expect(check(create([0, 9], 'a', 1, 'k'), create([0, 9], 'a', 1, 'k'), read([2, 3], 'a'))).toEqual([]);
    expect(check(create([0, 1], 'a', 1, 'k'), remove([2, 3], 200), create([4, 5], 'a', 1, 'k'), read([6, 7]))).toEqual(
      [],
    );
  });

  test('must not make a second item, nor get the id of another one', () => {
    expect(check(create([0, 1], 'a', 1, 'k'), create([2, 3], 'a', 2, 'k'))).toEqual(['a key makes one item', 2]);
    expect(check(create([0, 1], 'a', 1, 'k'), create([2, 3], 'b', 2, 'k'))).toEqual(['a key makes one item', 2]);
    expect(
      check(
        create([0, 1], 'a', undefined, 'k'),
        list([2, 3], ['a']),
        create([4, 5], 'b', 2, 'k'),
        list([6, 7], ['a', 'b']),
      ),
    ).toEqual(['a key makes one item', 2]);
  });

  test('must not be refused for its own key, nor done when it was refused', () => {
    expect(check(create([0, 1], 'a', 1, 'k'), refused([2, 3], 'a', 'k'))).toEqual(['a key makes one item', 2]);
    expect(check(refused([0, 1], 'a', 'k'))).toEqual(['a key makes one item', 1]);
    expect(check(create([0, 1], 'a', 1, 'k'), refused([2, 3], 'b', 'k'), list([4, 5], ['a', 'b']))).toEqual([
      'items are linearizable',
      1,
    ]);
  });
});

describe('A history with reads from a standby', () => {
  const violations = (...operations: Operation[]) =>
    findViolations({ operations }, { consistency: 'regular' }).map((violation) => violation.check);

  test('may show a write before it is acknowledged, and then not', () => {
    const early = [create([0, 9], 'a', 1), read([1, 2], 'a'), read([3, 4])];
    expect(check(...early)).toEqual(['items are linearizable', 2]);
    expect(violations(...early)).toEqual([]);
  });

  test('must show every acknowledged write', () => {
    const stale = [create([0, 1], 'a', 1), update([2, 3], 'b', 200), read([4, 5], 'a')];
    expect(violations(...stale)).toEqual(['items are linearizable']);
  });
});

describe('A history is refused', () => {
  test('when a read ends before the write that it saw, or misses one that had ended', () => {
    const stale = [create([0, 1], 'a', 1), update([2, 3], 'b', 200), read([4, 5], 'a')];
    expect(check(...stale)).toEqual(['items are linearizable', 2]);
    expect(check(create([0, 1], 'a', 1), read([2, 3], 'b'), update([4, 5], 'b', 200))).toEqual([
      'items are linearizable',
      2,
    ]);
  });

  test('when a later read sees an older state, whatever the writes', () => {
    const before = [create([0, 1], 'a', 1), update([2, 9], 'b')];
    expect(check(...before, read([3, 4], 'b'), read([5, 6], 'a'))).toEqual(['items are linearizable', 2]);
    expect(check(create([0, 1], 'a', 1), remove([2, 3], 200), read([4, 5], 'a'))).toEqual([
      'items are linearizable',
      2,
    ]);
  });

  test('when an acknowledged write is gone at the end, without what does not matter', () => {
    const reads = Array.from({ length: 50 }, (_, index) => read([10 + index, 11 + index], 'b'));
    const operations = [create([0, 1], 'a', 1), update([2, 3], 'b', 200), ...reads];
    expect(check(...operations, list([90, 91], ['a'], FINAL_CLIENT))).toEqual(['acknowledged writes stay', 2]);
  });

  test('when a list lacks an item, or its order is another one', () => {
    const operations = [create([0, 1], 'a', 1), create([2, 3], 'b', 2)];
    expect(check(...operations, list([4, 5], ['a']))).toEqual(['items are linearizable', 2]);
    const [first, second] = ['b', 'a'].map((title, index) => ({ id: 2 - index, title, status: 'Doing' }));
    const reversed = list([4, 5], ['a', 'b']);
    expect(check(...operations, { ...reversed, response: { ...reversed.response!, body: [first, second] } })).toEqual([
      'pages are whole and in order',
      1,
    ]);
  });

  test('when a list or a summary at the end has another total than the database', () => {
    const operations = [create([0, 1], 'a', 1), list([2, 3], ['a'], FINAL_CLIENT)];
    const summary = operation([4, 5], {
      ...{ kind: 'summary', method: 'GET', path: '/v1/items/summary', client: FINAL_CLIENT },
      response: response(200, { total: 1, finished: 1 }),
    });
    expect(check(...operations, summary)).toEqual(['totals equal rows', 1]);
    const wrong = list([4, 5], ['a'], FINAL_CLIENT);
    wrong.position!.limit = 100_000;
    wrong.response!.total = 2;
    expect(check(...operations, wrong)).toEqual(['totals equal rows', 1]);
  });

  test('when a response is not one of the contract, or is one to another request', () => {
    expect(check(update([0, 1], 'a', 400))).toEqual(['responses are of the contract', 1]);
    expect(check(update([0, 1], 'a', 412))).toContain('responses are of the contract');
    expect(check({ ...read([0, 1]), requestId: 'another' })).toEqual(['responses belong to their requests', 1]);
    expect(check({ ...read([0, 1], 'a'), key: 2 })).toContain('responses belong to their requests');
    expect(check(create([0, 1], 'a', 2), read([2, 3], 'a'))).toContain('responses belong to their requests');
  });

  test('when a create is done twice', () => {
    expect(check(create([0, 1], 'a'), list([2, 3], ['a', 'a']))).toContain('a create makes one item');
  });

  test('when a later create gets a lower id', () => {
    expect(check(create([0, 1], 'a', 2), create([2, 3], 'b', 1))).toEqual(['ids increase', 2]);
    expect(check(create([0, 3], 'a', 2), create([2, 3], 'b', 1))).toEqual([]);
  });

  test('when a walk over the pages skips or repeats an item', () => {
    const titles = ['a', 'b', 'c', 'd'];
    const creates = titles.map((title, index) => create([index * 2, index * 2 + 1], title, index + 1));
    const walk = (...pages: number[][]) =>
      pages.map((ids, page) =>
        operation([page + 10, page + 11], {
          ...{ kind: 'list', method: 'GET', path: '/v1/items', walk: 1, position: { offset: page * 2, limit: 2 } },
          response: response(
            200,
            ids.map((id) => ({ id, title: titles[id - 1], status: 'Doing' })),
            4,
          ),
        }),
      );
    expect(check(...creates, ...walk([1, 2], [3, 4], []))).toEqual([]);
    expect(check(...creates, ...walk([1, 2], [2, 3], []))).toEqual(['walks neither skip nor repeat', 4]);
    expect(check(...creates, ...walk([2, 3], [3, 4], []))).toEqual(['items are linearizable', 2]);
    expect(check(...creates, ...walk([1, 2], [4]))).toEqual([
      'pages are whole and in order',
      'walks neither skip nor repeat',
      1,
    ]);
  });

  test('when a request takes longer than 3 s and the margin of a busy machine', () => {
    const late = { ...read([2, 8_000], 'a') };
    expect(check(create([0, 1], 'a', 1), late)).toEqual(['requests end in time', 1]);
    const operations = [create([0, 1], 'a', 1), late];
    expect(findViolations({ operations }, { freezes: [{ service: 0, from: 100, to: 2_000 }] })).toEqual([]);
  });
});
