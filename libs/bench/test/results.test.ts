import { expect, test } from '@jest/globals';
import { check } from 'prettier';
import { chart } from '../src/chart.ts';
import { names } from '../src/contestants.ts';
import { goals, outcomeOf } from '../src/goals.ts';
import { fullPlan } from '../src/measure.ts';
import { resultsPage } from '../src/report.ts';

const samplesOf = (scenario: string, connections: number, rounds: Record<string, number[]>) =>
  Object.entries(rounds).flatMap(([contestant, figures]) =>
    figures.map((perSecond, round) => ({
      ...{ scenario, connections, contestant, round, perSecond },
      ...{ cpuUs: 1e6 / perSecond, p99Ms: 1.234, rssMb: NaN },
    })),
  );

const samples = [
  ...samplesOf('GET one', 1, { [names.service]: [20, 22, 24], [names.express]: [10, 10, 10] }),
  ...samplesOf('GET one', 64, { [names.service]: [6_000, 2_750, 500], [names.express]: [1_000, 500, 100] }),
  ...samplesOf('POST', 1, { [names.service]: [11, 13, 12], [names.express]: [10, 10, 10] }),
  ...samplesOf('POST with Idempotency-Key', 64, { [names.service]: [2_100], [names.withoutKey]: [3_000] }),
];
const outcomes = goals.map((goal) => outcomeOf(goal, samples));

test('An outcome is the median of the ratios within rounds, of the worst scenario', () => {
  const texts = outcomes.flatMap(({ what, ratios }) =>
    ratios.map(({ against, text, isReached }) => [what, against, text, isReached ? 'reached' : 'missed'].join(' | ')),
  );
  expect(texts).toEqual([
    'GET one | Express | 5.50 (≥5) | reached',
    'POST with Idempotency-Key | POST | 0.70 (≥0.6) | reached',
    'CPU per request | Express | 0.18 (≤0.25) | reached',
    'One connection | Express | 1.20 (≥1.5) | missed',
  ]);
});

test('The page of results is formatted, and has a row for each scenario', async () => {
  const page = resultsPage('A machine', fullPlan, outcomes, ['RSS: 9 MB'], samples);
  expect(await check(page, { parser: 'markdown', singleQuote: true, printWidth: 120 })).toBe(true);
  expect(page).toMatch(/^\| One connection +\| \*\*1\.20 \(≥1\.5\)\*\* \| +\|$/m);
  expect(page).toMatch(/^\| GET one +\| +2,750 \| +500 \| +\| +1\.2 \| +364 \| +\|$/m);
});

test('The chart has a bar for each contestant that was measured, with its figure', () => {
  const svg = chart(samples, 'A processor <of> 2 & more');
  expect([...svg.matchAll(/ width="(\d+)" height="20"/g)].map(([, width]) => Number(width))).toEqual([580, 105]);
  expect(svg).toContain('>2,750<');
  expect(svg).toContain('A processor &lt;of&gt; 2 &amp; more');
});
