import { describe, expect, test } from '@jest/globals';
import { findViolations, FINAL_CLIENT } from '../src/checks/checks.ts';
import type { Operation } from '../src/history.ts';
import { check, create, list, operation, read, remove, response, update } from './operations.ts';

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
