import { names } from './contestants.ts';
import { metrics, ratioOf, type Cell, type Spread } from './statistics.ts';

/** What the service is to reach, as the median of its ratios to another contestant. */
export interface Goal {
  what: string;
  /** Of several, the one counts that is the farthest from the goal. */
  scenarios: string[];
  connections: number;
  against: string;
  metric: keyof typeof metrics;
  /** Minimum ratio for requests, maximum ratio for CPU time. */
  wanted: number;
}

export interface Outcome {
  what: string;
  against: string;
  wanted: string;
  measured: string;
  spread: string;
  isReached: boolean;
}

const throughput: [what: string, scenario: string, wanted: [against: string, ratio: number][]][] = [
  [
    'GET one, random ids, 64 connections',
    'read',
    [
      [names.express, 5],
      [names.statementPerRequest, 2.8],
      [names.constant, 0.6],
    ],
  ],
  [
    'GET first page, 64 connections',
    'first-page',
    [
      [names.express, 5],
      [names.statementPerRequest, 2],
    ],
  ],
  [
    'POST, 64 connections',
    'create',
    [
      [names.express, 5],
      [names.statementPerRequest, 3.5],
    ],
  ],
  ['POST with Idempotency-Key, 64 connections', 'create-once', [[names.withoutKey, 0.6]]],
];

const everyRoute = ['read', 'first-page', 'deep-page', 'search', 'create', 'update'];

export const goals: Goal[] = [
  ...throughput.flatMap(([what, scenario, ratios]) =>
    ratios.map(([against, wanted]) => ({
      ...{ what, scenarios: [scenario], connections: 64 },
      ...{ against, metric: 'requests' as const, wanted },
    })),
  ),
  ...[
    { against: names.express, wanted: 1.5 },
    { against: names.statementPerRequest, wanted: 0.95 },
    {
      what: 'One connection, POST with Idempotency-Key',
      scenarios: ['create-once'],
      ...{ against: names.withoutKey, wanted: 0.8 },
    },
  ].map((goal) => ({
    ...{ what: 'One connection, every route', scenarios: everyRoute, connections: 1 },
    ...{ metric: 'requests' as const, ...goal },
  })),
  ...[
    { against: names.express, wanted: 0.25 },
    { against: names.statementPerRequest, wanted: 0.45 },
  ].map((goal) => ({
    ...{ what: 'CPU per request, 64 connections', scenarios: ['read', 'first-page', 'create'], connections: 64 },
    ...{ metric: 'cpu' as const, ...goal },
  })),
];

/** @returns nothing where none of its scenarios was measured */
export function outcomeOf(goal: Goal, cells: Cell[], titles: ReadonlyMap<string, string>): Outcome[] {
  const ratios = cells
    .filter(({ scenario, connections }) => goal.scenarios.includes(scenario) && connections === goal.connections)
    .flatMap((cell) => {
      const ratio = ratioOf(cell, names.service, goal.against, metrics[goal.metric]);
      return ratio ? [{ scenario: cell.scenario, ratio }] : [];
    })
    .sort((a, b) => a.ratio.median - b.ratio.median);
  const isLeast = goal.metric === 'requests';
  const farthest = isLeast ? ratios[0] : ratios.at(-1);
  if (!farthest) return [];
  const { scenario, ratio } = farthest;
  return [
    {
      what: goal.what + (goal.scenarios.length > 1 ? ` (the worst: ${titles.get(scenario)!})` : ''),
      against: goal.against,
      wanted: `${isLeast ? '≥' : '≤'} ${goal.wanted}×`,
      measured: `${ratio.median.toFixed(2)}×`,
      spread: range(ratio, 2),
      isReached: isLeast ? ratio.median >= goal.wanted : ratio.median <= goal.wanted,
    },
  ];
}

/** A figure of the service by itself that is to stay below a limit. */
export function limitOutcome(what: string, unit: string, limit: number, spread: Spread | undefined): Outcome[] {
  if (!spread) return [];
  return [
    {
      what,
      against: '',
      wanted: `< ${limit} ${unit}`,
      measured: `${spread.median.toFixed(0)} ${unit}`,
      spread: spread.min === spread.max ? '' : range(spread, 0),
      isReached: spread.median < limit,
    },
  ];
}

const range = ({ min, max }: Spread, digits: number) => `${min.toFixed(digits)}–${max.toFixed(digits)}`;
