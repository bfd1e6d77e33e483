import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { fewAtATime } from '../src/sharing.ts';

test('No more than two changes of a row are under way, however they arrive', async () => {
  const underWay: (() => void)[] = [];
  const change = fewAtATime(() => new Promise<boolean>((resolve) => underWay.push(() => resolve(true))));
  const ask = () => change({ id: 1 });

  const asked = [ask(), ask()];
  await endOfTurn();
  underWay.shift()!();
  await asked[0];
  asked.push(ask(), ask());
  await endOfTurn();
  expect(underWay).toHaveLength(2);

  underWay.shift()!();
  await asked[1];
  await endOfTurn();
  expect(underWay).toHaveLength(2);
  underWay.forEach((finish) => finish());
  expect(await Promise.all(asked)).toEqual([true, true, true, true]);
});
