import { describe, expect, test } from '@jest/globals';
import { parseStat } from '../src/cpu.ts';
import { metrics, ratioOf, spreadOf, type Cell, type Sample } from '../src/statistics.ts';

describe('A spread', () => {
  test('has the middle value, or the mean of the two in the middle', () => {
    expect(spreadOf([9, 1, 5])).toEqual({ median: 5, min: 1, max: 9 });
    expect(spreadOf([10, 1, 9, 2])).toEqual({ median: 5.5, min: 1, max: 10 });
  });

  test('of nothing is undefined', () => {
    expect(spreadOf([])).toBeUndefined();
  });
});

describe('A ratio', () => {
  const sample = (perSecond: number): Sample => ({ perSecond });
  const cell: Cell = {
    scenario: 'read',
    connections: 64,
    samples: new Map([
      ['fast', [sample(100), sample(400), sample(90)]],
      ['slow', [sample(10), sample(20), sample(30)]],
    ]),
  };

  test('is taken within each round', () => {
    expect(ratioOf(cell, 'fast', 'slow', metrics.requests)).toEqual({ median: 10, min: 3, max: 20 });
  });

  test('is undefined where one of both, or the figure, was not measured', () => {
    expect(ratioOf(cell, 'fast', 'absent', metrics.requests)).toBeUndefined();
    expect(ratioOf(cell, 'fast', 'slow', metrics.cpu)).toBeUndefined();
  });
});

test("A process's CPU time is found behind any program's name", () => {
  const line = '42 (a (b) c 1 2) S 7 42 42 0 -1 4194304 500 0 0 0 11 22 33 44 20 0 1 0 100 1000 10';
  expect(parseStat(line)).toEqual({ parent: 7, ownTicks: 33, endedChildrenTicks: 77 });
});
