import { setImmediate as endOfTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { batching } from '../src/batching.ts';

// The time that a request waits at most passes when a test says so.
beforeAll(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
});
afterAll(() => {
  jest.useRealTimers();
});

/** Answers each key with itself, when the test ends the statement that it is in. */
function statements(maxBatchSize = 8) {
  const begun: { keys: readonly number[]; end: () => void; fail: () => void }[] = [];
  const ask = batching<number, number>(
    (keys) =>
      new Promise((resolve, reject) => {
        begun.push({ keys, end: () => resolve([...keys]), fail: () => reject(new Error('of a test')) });
      }),
    maxBatchSize,
  );
  let asked = 0;
  const answers: Promise<number>[] = [];
  return {
    begun,
    answers,
    sizes: () => begun.map(({ keys }) => keys.length),
    ask: async (requests: number) => {
      for (let request = 0; request < requests; request += 1) {
        const answer = ask((asked += 1));
        answer.catch(() => undefined);
        answers.push(answer);
      }
      await endOfTurn();
    },
  };
}

describe('While a statement is under way', () => {
  test('the next one collects as many requests before it begins', async () => {
    const { begun, ask, sizes } = statements();
    await ask(3);
    expect(sizes()).toEqual([3]);
    await ask(1);
    await ask(1);
    expect(sizes()).toEqual([3]);
    await ask(1);
    expect(sizes()).toEqual([3, 3]);
    expect(begun.flatMap(({ keys }) => keys)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('a second one may be, and no third one', async () => {
    const { ask, sizes } = statements();
    await ask(3);
    await ask(3);
    await ask(7);
    expect(sizes()).toEqual([3, 3]);
  });

  test('the next one begins with fewer when it ends, or fails', async () => {
    const { begun, answers, ask, sizes } = statements();
    await ask(3);
    await ask(1);
    begun[0]!.end();
    expect(await answers[2]).toBe(3);
    await endOfTurn();
    expect(sizes()).toEqual([3, 1]);
    await ask(3);
    await ask(1);
    begun[1]!.fail();
    await expect(answers[3]).rejects.toThrow('of a test');
    begun[2]!.fail();
    await expect(answers[4]).rejects.toThrow('of a test');
    await endOfTurn();
    expect(sizes()).toEqual([3, 1, 3, 1]);
  });

  test('one that is full begins as soon as there is a further request, whatever is under way', async () => {
    const { ask, sizes } = statements(8);
    await ask(8);
    await ask(8);
    await ask(8);
    expect(sizes()).toEqual([8, 8]);
    await ask(1);
    expect(sizes()).toEqual([8, 8, 8]);
    await ask(8);
    expect(sizes()).toEqual([8, 8, 8, 8]);
  });

  test('that is not over soon, as when it waits for a lock, the next ones begin all the same', async () => {
    const { ask, sizes } = statements();
    await ask(3);
    await ask(1);
    jest.advanceTimersByTime(4);
    expect(sizes()).toEqual([3]);
    jest.advanceTimersByTime(1);
    expect(sizes()).toEqual([3, 1]);
    await ask(2);
    jest.advanceTimersByTime(5);
    expect(sizes()).toEqual([3, 1, 2]);
  });
});

test('One request after the other begins at the end of its turn', async () => {
  const { begun, answers, ask } = statements();
  for (let request = 0; request < 3; request += 1) {
    await ask(1);
    begun[request]!.end();
    expect(await answers[request]).toBe(request + 1);
    await endOfTurn();
  }
});
