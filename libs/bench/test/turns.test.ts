import { describe, expect, test } from '@jest/globals';
import { turnsOf, type Contestant } from '../src/measure.ts';
import { quickPlan } from '../src/plan.ts';
import { fill, scenariosFor, type Template } from '../src/scenarios.ts';

const plan = { ...quickPlan, connections: [1, 64], rounds: 3 };
const scenarios = scenariosFor(plan.rows);

const contestant = (name: string, takesPart: Contestant['takesPart'] = () => true): Contestant => ({
  name,
  takesPart,
  turn: () => Promise.resolve({ perSecond: 1 }),
});

describe('The turns', () => {
  const [first, second] = scenarios as [(typeof scenarios)[0], (typeof scenarios)[0]];
  const turns = turnsOf(
    plan,
    [first, second],
    [
      contestant('a'),
      contestant('b'),
      contestant('c', (scenario, connections) => scenario === first.name && connections === 64),
    ],
  );
  const inCell = (scenario: string, connections: number) =>
    turns
      .filter((turn) => turn.scenario.name === scenario && turn.connections === connections)
      .map(({ round, contestant: { name } }) => `${round}${name}`)
      .join(' ');

  test('give everybody one in each round, and another one the first', () => {
    expect(inCell(second.name, 64)).toBe('0a 0b 1b 1a 2a 2b');
    expect(inCell(first.name, 64)).toBe('0a 0b 0c 1b 1c 1a 2c 2a 2b');
  });

  test('leave out who does not take part', () => {
    expect(inCell(first.name, 1)).toBe('0a 0b 1b 1a 2a 2b');
  });
});

describe('The requests', () => {
  test('are drawn from the whole range', () => {
    const template: Template = ['/items/', { from: 5, to: 7 }, '?', { oneOf: ['a', 'b'] }];
    expect(fill(template, () => 0)).toBe('/items/5?a');
    expect(fill(template, () => 0.999)).toBe('/items/7?b');
  });

  test('of each scenario have shares of a hundred', () => {
    for (const { name, requests } of scenarios) {
      expect([name, requests.reduce((sum, { share }) => sum + share, 0)]).toEqual([name, 100]);
    }
  });

  test('for deep pages stay near 80 % of the table', () => {
    const { requests } = scenarios.find(({ name }) => name === 'deep-page')!;
    const pages = [0, 0.999_999].map((random) => fill(requests[0]!.path, () => random));
    expect(pages).toEqual(['/v1/items?page=7001&limit=10', '/v1/items?page=8000&limit=10']);
  });
});
