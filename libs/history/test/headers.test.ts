import { describe, expect, test } from '@jest/globals';
import { check, create, list, read, refused, remove, update } from './operations.ts';

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
