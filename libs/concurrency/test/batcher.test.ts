import { setImmediate as endOfTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Batcher } from '../src/batcher.ts';

// The test moves the clock.
beforeAll(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
});
afterAll(() => {
  jest.useRealTimers();
});

/** A batcher that returns each key when the test ends its batch. */
function startBatcher(maxBatchSize = 8) {
  const begun: { keys: readonly number[]; end: () => void; fail: () => void }[] = [];
  const batcher = new Batcher<number, number>(
    (keys) =>
      new Promise((resolve, reject) => {
        begun.push({ keys, end: () => resolve([...keys]), fail: () => reject(new Error('of a test')) });
      }),
    maxBatchSize,
  );
  let submitted = 0;
  const results: Promise<number>[] = [];
  return {
    begun,
    results,
    sizes: () => begun.map(({ keys }) => keys.length),
    submit: async (count: number) => {
      for (let call = 0; call < count; call += 1) {
        const result = batcher.submit((submitted += 1));
        result.catch(() => undefined);
        results.push(result);
      }
      await endOfTurn();
    },
  };
}

describe('While a batch is in flight', () => {
  test('the next one collects as many keys before it starts', async () => {
    const { begun, submit, sizes } = startBatcher();
    await submit(3);
    expect(sizes()).toEqual([3]);
    await submit(1);
    await submit(1);
    expect(sizes()).toEqual([3]);
    await submit(1);
    expect(sizes()).toEqual([3, 3]);
    expect(begun.flatMap(({ keys }) => keys)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('a second one starts, and no third one', async () => {
    const { submit, sizes } = startBatcher();
    await submit(3);
    await submit(3);
    await submit(7);
    expect(sizes()).toEqual([3, 3]);
  });

  test('the next one starts with fewer keys when it ends or fails', async () => {
    const { begun, results, submit, sizes } = startBatcher();
    await submit(3);
    await submit(1);
    begun[0]!.end();
    expect(await results[2]).toBe(3);
    await endOfTurn();
    expect(sizes()).toEqual([3, 1]);
    await submit(3);
    await submit(1);
    begun[1]!.fail();
    await expect(results[3]).rejects.toThrow('of a test');
    begun[2]!.fail();
    await expect(results[4]).rejects.toThrow('of a test');
    await endOfTurn();
    expect(sizes()).toEqual([3, 1, 3, 1]);
  });

  test('a full one starts with the next call, whatever is in flight', async () => {
    const { submit, sizes } = startBatcher(8);
    await submit(8);
    await submit(8);
    await submit(8);
    expect(sizes()).toEqual([8, 8]);
    await submit(1);
    expect(sizes()).toEqual([8, 8, 8]);
    await submit(8);
    expect(sizes()).toEqual([8, 8, 8, 8]);
  });

  test('the next ones start after 5 ms all the same', async () => {
    const { submit, sizes } = startBatcher();
    await submit(3);
    await submit(1);
    await jest.advanceTimersByTimeAsync(4);
    expect(sizes()).toEqual([3]);
    await jest.advanceTimersByTimeAsync(1);
    expect(sizes()).toEqual([3, 1]);
    await submit(2);
    await jest.advanceTimersByTimeAsync(5);
    expect(sizes()).toEqual([3, 1, 2]);
  });
});

test('Single calls start at the end of their iteration of the event loop', async () => {
  const { begun, results, submit } = startBatcher();
  for (let call = 0; call < 3; call += 1) {
    await submit(1);
    begun[call]!.end();
    expect(await results[call]).toBe(call + 1);
    await endOfTurn();
  }
});
