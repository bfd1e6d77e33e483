import { setImmediate as endOfTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { limitedPerRow } from '../src/batching.ts';

test('No more than two changes of a row are under way, however they arrive', async () => {
  const underWay: (() => void)[] = [];
  const change = limitedPerRow(() => new Promise<boolean>((resolve) => underWay.push(() => resolve(true))));

  // The second row gets the limit that the first one has left.
  for (const id of [1, 2]) {
    const ask = () => change({ id });
    const asked = [ask(), ask(), ask()];
    await endOfTurn();
    expect(underWay).toHaveLength(2);
    underWay.shift()!();
    await asked[0];
    asked.push(ask(), ask());
    await endOfTurn();
    expect(underWay).toHaveLength(2);

    underWay.shift()!();
    await asked[1];
    await endOfTurn();
    expect(underWay).toHaveLength(2);
    for (; underWay.length > 0; await endOfTurn()) underWay.shift()!();
    expect(await Promise.all(asked)).toEqual([true, true, true, true, true]);
  }
});

describe('A change of a row that others are changing', () => {
  test('is not carried out any more once it has been refused', async () => {
    const carriedOut: string[] = [];
    const finish: (() => void)[] = [];
    const change = limitedPerRow(({ name }: { id: number; name: string }) => {
      carriedOut.push(name);
      return new Promise<boolean>((resolve) => finish.push(() => resolve(true)));
    });
    const others = ['first', 'second'].map((name) => change({ id: 1, name }));
    await expect(change({ id: 1, name: 'late' }, performance.now())).rejects.toMatchObject({ statusCode: 503 });
    const last = change({ id: 1, name: 'last' });
    finish.forEach((done) => done());
    await Promise.all(others);
    await endOfTurn();
    finish.at(-1)!();
    expect(await last).toBe(true);
    expect(carriedOut).toEqual(['first', 'second', 'last']);
  });

  test('is carried out, however late, when they have ended meanwhile', async () => {
    const change = limitedPerRow(() => Promise.resolve(true));
    await Promise.all([change({ id: 1 }), change({ id: 1 }), change({ id: 1 })]);
    expect(await change({ id: 1 }, performance.now() - 1_000)).toBe(true);
  });

  test('is carried out, however late, when they have failed at the same moment', async () => {
    let fails = true;
    const change = limitedPerRow(() => (fails ? Promise.reject(new Error('of a test')) : Promise.resolve(true)));
    await Promise.allSettled([change({ id: 1 }), change({ id: 1 })]);
    fails = false;
    expect(await change({ id: 1 }, performance.now() - 1_000)).toBe(true);
  });

  test('that is under way when its time is over is not refused: it may still take effect', async () => {
    const change = limitedPerRow(() => new Promise(() => undefined));
    void change({ id: 1 });
    await expect(change({ id: 1 }, performance.now() + 10)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });
});
