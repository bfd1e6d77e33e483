import { describe, expect, test } from '@jest/globals';
import { check } from 'prettier';
import { chart } from '../src/chart.ts';
import { names } from '../src/contestants.ts';
import { goals, limitOutcome, outcomeOf } from '../src/goals.ts';
import { fullPlan } from '../src/plan.ts';
import { outcomesTable, resultsPage, type Surroundings } from '../src/report.ts';
import type { Cell } from '../src/statistics.ts';

const titles = new Map([
  ['read', 'GET one'],
  ['create', 'POST'],
  ['create-once', 'POST with a key'],
]);

const cell = (scenario: string, connections: number, perSecond: Record<string, number[]>): Cell => ({
  scenario,
  connections,
  samples: new Map(
    Object.entries(perSecond).map(([name, values]) => [
      name,
      values.map((each) => ({ perSecond: each, serviceCpuUs: 1e6 / each, databaseCpuUs: 0, p50Ms: 1.234 })),
    ]),
  ),
});

const cells = [
  cell('read', 1, { [names.service]: [20, 22, 24], [names.express]: [10, 10, 10] }),
  cell('read', 64, {
    [names.service]: [6_000, 5_000, 5_500],
    [names.express]: [1_000, 1_000, 1_000],
    [names.constant]: [10_000, 10_000, 10_000],
  }),
  cell('create', 1, { [names.service]: [11, 13, 12], [names.express]: [10, 10, 10] }),
  cell('create', 64, { [names.service]: [900, 4_000, 3_000], [names.express]: [1_000, 1_000, 1_000] }),
  cell('create-once', 1, { [names.service]: [9], [names.withoutKey]: [12] }),
  cell('create-once', 64, { [names.service]: [2_100], [names.withoutKey]: [3_000] }),
];

const outcomes = [
  ...goals.flatMap((goal) => outcomeOf(goal, cells, titles)),
  ...limitOutcome('Start to first answer', 'ms', 350, { median: 300, min: 280, max: 400 }),
];

const surroundings: Surroundings = {
  processor: 'A processor <of> 2 & more',
  cores: 2,
  memoryGb: 8,
  system: 'Linux 6.1',
  node: '24.0.0',
  postgres: '18.4',
  fsync: 'on',
  synchronousCommit: 'on',
  loadGenerator: 'wrk 4',
  date: '2026-11-21',
};

describe('What was reached', () => {
  const find = (what: string, against: string) =>
    outcomes.find((outcome) => outcome.what.startsWith(what) && outcome.against === against);

  test('compares the median of the ratios with what was wanted', () => {
    expect(find('GET one', names.express)).toMatchObject({ measured: '5.50×', spread: '5.00–6.00', isReached: true });
    expect(find('GET one', names.constant)).toMatchObject({ wanted: '≥ 0.6×', measured: '0.55×', isReached: false });
    expect(find('POST', names.express)).toMatchObject({ measured: '3.00×', isReached: false });
    expect(find('POST with Idempotency-Key, 64', names.withoutKey)).toMatchObject({
      measured: '0.70×',
      isReached: true,
    });
    expect(find('One connection, POST with', names.withoutKey)).toMatchObject({ measured: '0.75×', isReached: false });
    expect(find('Start', '')).toMatchObject({ wanted: '< 350 ms', measured: '300 ms', isReached: true });
  });

  test('takes the worst of several routes', () => {
    expect(find('One connection', names.express)).toMatchObject({
      what: 'One connection, every route (the worst: POST)',
      measured: '1.20×',
      isReached: false,
    });
    expect(find('CPU', names.express)).toMatchObject({ wanted: '≤ 0.25×', measured: '0.33×', isReached: false });
  });

  test('leaves out what was not measured', () => {
    expect(outcomes.filter(({ what }) => what.startsWith('GET first page'))).toEqual([]);
    expect(limitOutcome('RSS', 'MB', 150, undefined)).toEqual([]);
  });
});

describe('The page of results', () => {
  const page = resultsPage(surroundings, fullPlan, outcomes, cells, titles);

  test('is as prettier would have it', async () => {
    expect(await check(page, { parser: 'markdown', singleQuote: true, printWidth: 120 })).toBe(true);
  });

  test('says where, when, and that commits are on disk', () => {
    for (const said of ['A processor', '2 cores', '2026-11-21', '`fsync` is on and `synchronous_commit` is on']) {
      expect(page).toContain(said);
    }
  });

  test('has the goals and a table for each scenario', () => {
    expect(page).toContain(outcomesTable(outcomes));
    expect(page.match(/^## .*/gm)).toEqual(['## What is to be reached', '## GET one', '## POST', '## POST with a key']);
    expect(page).toMatch(/^\| +64 \| This service +\| +5,500 \| +5,000–6,000 \| +1\.23 \|/m);
  });
});

describe('The chart', () => {
  const shown = new Map([...titles].slice(0, 2));
  const svg = chart(cells, shown, 'A processor <of> 2 & more');

  test('has a bar for each that is shown and was measured at 64 connections, the longest for the most', () => {
    const widths = [...svg.matchAll(/<rect class="bar\d" .*? width="([\d.]+)"/g)].map(([, width]) => Number(width));
    expect(widths).toHaveLength(5);
    expect(Math.max(...widths)).toBe(widths[2]);
    expect(svg).toContain('>5,500<');
  });

  test('escapes what it is given', () => {
    expect(svg).toContain('A processor &lt;of&gt; 2 &amp; more');
  });
});
