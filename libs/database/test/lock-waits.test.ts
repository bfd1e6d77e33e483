import { setImmediate as endOfTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { OverloadedError } from '@rest-services/errors';
import { LockWaits } from '../src/connection/lock-waits.ts';

/** A change of a row that takes part in the waits. */
const changing = <Row extends { id: number }>(change: (row: Row) => Promise<boolean>, poolMax = 4) => {
  const waits = new LockWaits(poolMax);
  return (row: Row, deadline?: number) => waits.runInTurn(() => change(row), `${row.id}`, deadline);
};

test('No more than two changes of a row are under way, however they arrive', async () => {
  const underWay: (() => void)[] = [];
  const change = changing(() => new Promise<boolean>((resolve) => underWay.push(() => resolve(true))));

  // The changes of one end in their order, of the other the last one first.
  for (const [id, next] of [
    [1, () => underWay.shift()],
    [2, () => underWay.pop()],
  ] as const) {
    const asked = Array.from({ length: 6 }, () => change({ id }));
    for (let left = asked.length; left > 0; left -= 1) {
      await endOfTurn();
      expect(underWay).toHaveLength(Math.min(left, 2));
      next()!();
    }
    expect(await Promise.all(asked)).toEqual(asked.map(() => true));
  }
});

test('No more changes of all rows together are under way than there are places', async () => {
  const underWay: (() => void)[] = [];
  const change = changing(() => new Promise<boolean>((resolve) => underWay.push(() => resolve(true))), 6);
  const asked = Array.from({ length: 8 }, (_, id) => change({ id }));
  for (let left = asked.length; left > 0; left -= 1) {
    await endOfTurn();
    expect(underWay).toHaveLength(Math.min(left, 3));
    underWay.shift()!();
  }
  expect(await Promise.all(asked)).toEqual(asked.map(() => true));
});

describe('A change of a row that others are changing', () => {
  test('is not carried out any more once it has been refused', async () => {
    const carriedOut: string[] = [];
    const finish: (() => void)[] = [];
    const change = changing(({ name }: { id: number; name: string }) => {
      carriedOut.push(name);
      return new Promise<boolean>((resolve) => finish.push(() => resolve(true)));
    });
    const others = ['first', 'second'].map((name) => change({ id: 1, name }));
    await expect(change({ id: 1, name: 'late' }, performance.now())).rejects.toThrow(OverloadedError);
    const last = change({ id: 1, name: 'last' });
    finish.forEach((done) => done());
    await Promise.all(others);
    await endOfTurn();
    finish.at(-1)!();
    expect(await last).toBe(true);
    expect(carriedOut).toEqual(['first', 'second', 'last']);
  });

  test('is not carried out either when its turn comes in the moment in which it is refused', async () => {
    const finish = new Map<number, (() => void)[]>();
    const lateOnes: number[] = [];
    const change = changing(({ id, isLate }: { id: number; isLate?: boolean }) => {
      if (isLate) lateOnes.push(id);
      return new Promise<boolean>((resolve) => finish.set(id, [...(finish.get(id) ?? []), () => resolve(true)]));
    }, Infinity);
    const ids = Array.from({ length: 500 }, (_, index) => index);
    await Promise.all(
      ids.map(async (id) => {
        const others = [change({ id }), change({ id })];
        const late = change({ id, isLate: true }, performance.now() + 1_500 + id / 10);
        await expect(late).rejects.toThrow(OverloadedError);
        finish.get(id)!.forEach((done) => done());
        await Promise.all(others);
      }),
    );
    await endOfTurn();
    expect(lateOnes).toEqual([]);
  });

  test('is carried out, however late, when they have ended meanwhile', async () => {
    const change = changing(() => Promise.resolve(true));
    await Promise.all([change({ id: 1 }), change({ id: 1 }), change({ id: 1 })]);
    expect(await change({ id: 1 }, performance.now() - 1_000)).toBe(true);
  });

  test('is carried out, however late, when they have failed at the same moment', async () => {
    let fails = true;
    const change = changing(() => (fails ? Promise.reject(new Error('of a test')) : Promise.resolve(true)));
    await Promise.allSettled([change({ id: 1 }), change({ id: 1 })]);
    fails = false;
    expect(await change({ id: 1 }, performance.now() - 1_000)).toBe(true);
  });

  test('that is under way when its time is over is not refused: it may still take effect', async () => {
    const change = changing(() => new Promise(() => undefined));
    void change({ id: 1 }).catch(() => undefined);
    await expect(change({ id: 1 }, performance.now() + 10)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });
});
