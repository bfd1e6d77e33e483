import { expect, test } from '@jest/globals';
import { findViolations, FINAL_CLIENT } from '../src/checks/checks.ts';
import type { Operation } from '../src/history.ts';
import { check, create, list, operation, read, refused, remove, update } from './operations.ts';

const created = create([0, 1], 'a', 1);
const tagged = read([2, 3], 'a', '"1"');
const others = [create([0, 1], 'b', 2), create([0, 1], 'c', 3), create([0, 1], 'd', 4)];
const changed = update([4, 5], 'b', 200);
const [lost, lostWithTag] = [undefined, '"1"'].map((tag) => update([4, 5], 'b', undefined, tag)) as [
  Operation,
  Operation,
];
const afterLost = [update([6, 7], 'c', 200), read([8, 9], 'c', '"2"'), read([10, 11], 'b', '"3"')];
const keyed = create([0, 1], 'a', 1, 'k');
const lostKeyed = create([0, 1], 'a', undefined, 'k');
const walk = (...pages: number[][]) =>
  pages.map((ids, page) => list([page + 10, page + 11], ids, { walk: 1, position: { offset: page * 2, limit: 2 } }, 4));

test.each<[string, Operation[]]>([
  [
    'concurrent writes in either order',
    [created, update([4, 9], 'b', 200), update([4, 9], 'c', 200), read([10, 11], 'b')],
  ],
  ['a write of unknown outcome that is not done', [created, lost, read([6, 7], 'a')]],
  ['a write of unknown outcome that is done late', [created, tagged, lost, ...afterLost]],
  ['a create without a response', [create([0, 1], 'a'), list([2, 3], []), list([4, 5], [1])]],
  ['a write on the version of its tag', [created, tagged, update([4, 5], 'b', 200, '"1"')]],
  ['a refusal of an outdated version', [created, tagged, changed, update([6, 7], 'c', 412, '"1"')]],
  ['a refusal for an item that is gone', [created, tagged, remove([4, 9], 200), update([4, 9], 'c', 412, '"1"')]],
  ['one item of a key', [lostKeyed, create([2, 3], 'a', 1, 'k'), refused([4, 5], 'b', 'k')]],
  ['a key of a deleted item', [keyed, remove([2, 3], 200), create([4, 5], 'a', 1, 'k'), read([6, 7])]],
  ['concurrent creates with ids in any order', [create([0, 3], 'a', 2), create([2, 3], 'b', 1)]],
  ['a walk with every item', [created, ...others, ...walk([1, 2], [3, 4], [])]],
])('The checker accepts %s', (_, operations) => {
  expect(check(...operations)).toEqual([]);
});

const LINEARIZABLE = 'items are linearizable';
const TOTALS = 'totals equal rows';
const atEnd = { client: FINAL_CLIENT };
const manyReads = [6, 8, 10].map((at) => read([at, at + 1], 'b'));
const secondRow = { id: 2, title: 'a', status: 'Doing' };
const summary = operation([8, 9], { kind: 'summary', ...atEnd }, 200, { total: 1, finished: 1 });

test.each<[string, Operation[], check: string, lines: number]>([
  [
    'a read of an older state, without other reads',
    [created, changed, ...manyReads, read([12, 13], 'a')],
    LINEARIZABLE,
    2,
  ],
  ['a read that ends before the write', [created, read([2, 3], 'b'), changed], LINEARIZABLE, 2],
  ['a read of a deleted item', [created, remove([2, 3], 200), read([4, 5], 'a')], LINEARIZABLE, 2],
  ['a list without an item', [created, create([2, 3], 'b', 2), list([4, 5], [1])], LINEARIZABLE, 2],
  ['an acknowledged write that is gone at the end', [created, changed, list([8, 9], [1], atEnd)], LINEARIZABLE, 2],
  ['a create that is done twice', [created, operation([4, 5], { key: 2 }, 200, secondRow)], LINEARIZABLE, 1],
  ['a title of another item', [create([0, 1], 'a', 2), read([2, 3], 'a')], LINEARIZABLE, 1],
  [
    'two writes on one version',
    [created, tagged, ...['b', 'c'].map((title) => update([4, 9], title, 200, '"1"'))],
    LINEARIZABLE,
    2,
  ],
  ['a late write with If-Match', [created, tagged, lostWithTag, ...afterLost], LINEARIZABLE, 2],
  ['a refusal of the version of the tag', [created, tagged, update([4, 5], 'b', 412, '"1"')], LINEARIZABLE, 2],
  [
    'a tag that comes back',
    [created, tagged, changed, update([6, 7], 'a', 200), read([8, 9], 'a', '"1"')],
    LINEARIZABLE,
    3,
  ],
  ['a refused create that is done', [keyed, refused([2, 3], 'b', 'k'), list([4, 5], [1, 2])], LINEARIZABLE, 1],
  ['two items of a key', [keyed, create([2, 3], 'a', 2, 'k')], 'a key makes one item', 2],
  ['two creates of a key', [lostKeyed, list([2, 3], [1]), create([4, 5], 'b', 2, 'k')], 'a key makes one item', 2],
  ['a key that is refused for its own request', [refused([0, 1], 'a', 'k')], 'a key makes one item', 1],
  ['a later create with a lower id', [create([0, 1], 'a', 2), create([2, 3], 'b', 1)], 'ids increase', 2],
  ['a page in another order', [created, ...others, list([4, 5], [1, 3, 2, 4])], 'pages are whole and in order', 1],
  [
    'a page with too few rows',
    [created, ...others, list([4, 5], [4], { position: { offset: 2, limit: 2 } }, 4)],
    'pages are whole and in order',
    1,
  ],
  [
    'a walk that repeats an item',
    [created, ...others, ...walk([1, 2], [2, 3], [])],
    'walks neither skip nor repeat',
    4,
  ],
  [
    'a total that is not the number of rows',
    [created, list([2, 3], [1], atEnd), list([4, 5], [1], { ...atEnd, walk: 1, position: { offset: 0, limit: 1 } }, 2)],
    TOTALS,
    1,
  ],
  ['a summary that is not that of the rows', [created, list([2, 3], [1], atEnd), summary], TOTALS, 1],
  ['a status that the contract lacks', [update([0, 1], 'a', 400)], 'responses are of the contract', 1],
  ['a response to another request', [{ ...read([0, 1]), requestId: 'x' }], 'responses belong to their requests', 1],
  ['a response that is late', [created, read([2, 8_000], 'a')], 'requests end in time', 1],
])('The checker finds %s', (_, operations, ...expected) => {
  expect(check(...operations)).toEqual(expected);
});

test('The checker accepts a late response of a process that was stopped', () => {
  const freezes = [{ service: 0, from: 100, to: 2_000 }];
  expect(findViolations([created, read([2, 8_000], 'a')], { freezes })).toEqual([]);
});
