import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { OverloadedError } from '@rest-services/errors';
import { LockWaits } from '../src/connection/lock-waits.ts';

/** A change of a row that takes part in the waits. */
const changing = <Row extends { id: number }>(change: (row: Row) => Promise<boolean>, poolMax = 4) => {
  const waits = new LockWaits(poolMax);
  return (row: Row, deadline?: number) => waits.runInTurn(() => change(row), `${row.id}`, deadline);
};

test('No more than two changes of a row are in flight', async () => {
  const inFlight: (() => void)[] = [];
  const change = changing(() => new Promise<boolean>((resolve) => inFlight.push(() => resolve(true))), 20);
  const asked = Array.from({ length: 6 }, () => change({ id: 1 }));
  for (let left = asked.length; left > 0; left -= 1) {
    await setImmediate();
    expect(inFlight).toHaveLength(Math.min(left, 2));
    inFlight.shift()!();
  }
  expect(await Promise.all(asked)).toEqual(asked.map(() => true));
});

describe('A change of a row that others change', () => {
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
    await setImmediate();
    finish.at(-1)!();
    expect(await last).toBe(true);
    expect(carriedOut).toEqual(['first', 'second', 'last']);
  });

  test.each([true, false])('is carried out, however late, once they have ended; with success: %s', async (succeeds) => {
    let ended = () => (succeeds ? Promise.resolve(true) : Promise.reject(new Error('of a test')));
    const change = changing(() => ended());
    await Promise.allSettled([change({ id: 1 }), change({ id: 1 }), change({ id: 1 })]);
    ended = () => Promise.resolve(true);
    expect(await change({ id: 1 }, performance.now() - 1_000)).toBe(true);
  });

  test('in flight when its time has passed fails with ETIMEDOUT: it may still take effect', async () => {
    const change = changing(() => new Promise(() => undefined));
    await expect(change({ id: 1 }, performance.now() + 10)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });
});
