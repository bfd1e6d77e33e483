import { names } from './contestants.ts';
import type { Plan, Sample } from './measure.ts';

type Metric = 'perSecond' | 'p99Ms' | 'cpuUs' | 'rssMb';

/** Ratios of the service to other contestants that are wanted: at least that of requests per second, at most that of CPU time. */
interface Goal {
  what: string;
  /** Of several, the one with the worst ratio counts. */
  scenarios: string[];
  connections: number;
  metric: 'perSecond' | 'cpuUs';
  wanted: Record<string, number>;
}

const keyed = 'POST with Idempotency-Key';
const routes = ['GET one', 'GET first page', 'GET deep page', 'Title search', 'POST', 'PUT'];
const common = { connections: 64, metric: 'perSecond' } as const;
const { service, express, kysely, constant, withoutKey } = names;

const goals: Goal[] = [
  { ...common, what: 'GET one', scenarios: ['GET one'], wanted: { [express]: 5, [kysely]: 2.8, [constant]: 0.6 } },
  { ...common, what: 'GET first page', scenarios: ['GET first page'], wanted: { [express]: 5, [kysely]: 2 } },
  { ...common, what: 'POST', scenarios: ['POST'], wanted: { [express]: 5, [kysely]: 3.5 } },
  { ...common, what: keyed, scenarios: [keyed], wanted: { [withoutKey]: 0.6 } },
  {
    ...{ what: 'CPU per request', scenarios: ['GET one', 'GET first page', 'POST'], connections: 64, metric: 'cpuUs' },
    wanted: { [express]: 0.25, [kysely]: 0.45 },
  },
  { ...common, what: 'One connection', scenarios: routes, connections: 1, wanted: { [express]: 1.5, [kysely]: 0.95 } },
  { ...common, what: `One connection, ${keyed}`, scenarios: [keyed], connections: 1, wanted: { [withoutKey]: 0.8 } },
];

/** @returns NaN for no values */
export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

const samplesOf = (samples: readonly Sample[], scenario: string, connections: number) =>
  samples.filter((each) => each.scenario === scenario && each.connections === connections);

/** The median of the ratios within each round, so that a slow moment of the machine slows both. */
function ratioOf(samples: readonly Sample[], against: string, metric: Metric) {
  const rounds = [...Map.groupBy(samples, ({ round }) => round).values()];
  const figure = (round: readonly Sample[], name: string) =>
    round.find(({ contestant }) => contestant === name)?.[metric] ?? NaN;
  return median(rounds.map((round) => figure(round, service) / figure(round, against)));
}

/** A Markdown table whose columns have even widths. The first column is aligned to the left, the others to the right. */
function table(headings: string[], rows: string[][]): string {
  const widths = headings.map((heading, index) =>
    Math.max(3, heading.length, ...rows.map((row) => row[index]!.length)),
  );
  const line = (cells: string[]) =>
    `| ${cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[index]!))).join(' | ')} |`;
  const rule = widths.map((width, index) => (index === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(headings), line(rule), ...rows.map(line)].join('\n');
}

/** Table of the goals, with a column for each contestant that the service is compared with; missed ones are bold. */
function goalsTable(samples: readonly Sample[]) {
  const contestants = [express, kysely, constant, withoutKey];
  const cell = ({ scenarios, connections, metric, wanted }: Goal, against: string) => {
    const limit = wanted[against];
    const ratios = scenarios
      .map((scenario) => ratioOf(samplesOf(samples, scenario, connections), against, metric))
      .filter((ratio) => !Number.isNaN(ratio));
    if (limit === undefined || ratios.length === 0) return '';
    const isMinimum = metric === 'perSecond';
    const worst = isMinimum ? Math.min(...ratios) : Math.max(...ratios);
    const text = `${worst.toFixed(2)} (${isMinimum ? '≥' : '≤'}${limit})`;
    return (isMinimum ? worst >= limit : worst <= limit) ? text : `**${text}**`;
  };
  const rows = goals.map((goal) => [goal.what, ...contestants.map((name) => cell(goal, name))]);
  return table(['Ratio to', ...contestants], rows);
}

/**
 * Table of medians: a row for each scenario, with the requests per second of the contestants, and other figures of the service.
 * @param against a contestant whose ratio has a column, too
 */
function figuresTable(samples: readonly Sample[], connections: number, contestants: string[], against?: string) {
  const scenarios = [...new Set(samples.map(({ scenario }) => scenario))];
  const headings = connections === 1 ? ['p99, ms'] : ['p99, ms', 'CPU, µs', 'RSS, MB'];
  const rows = scenarios.map((scenario) => {
    const measured = samplesOf(samples, scenario, connections);
    const medianOf = (name: string, metric: Metric, digits = 0) => {
      const value = median(measured.filter(({ contestant }) => contestant === name).map((sample) => sample[metric]));
      const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
      return Number.isNaN(value) ? '' : value.toLocaleString('en', format);
    };
    const figures = [medianOf(service, 'p99Ms', 1), medianOf(service, 'cpuUs'), medianOf(service, 'rssMb')];
    return [
      ...[scenario, ...contestants.map((name) => medianOf(name, 'perSecond'))],
      ...(against ? [ratioOf(measured, against, 'perSecond').toFixed(2)] : []),
      ...figures.slice(0, headings.length),
    ];
  });
  return table(['Requests/s', ...contestants, ...(against ? ['Ratio'] : []), ...headings], rows);
}

/**
 * The page of results.
 * @param surroundings a line that says where, when and with what was measured
 * @param limits a line for each figure of the service that has a limit
 */
export function resultsPage(
  surroundings: string,
  { rounds, seconds, rows }: Plan,
  limits: readonly string[],
  samples: readonly Sample[],
): string {
  const contestants = [service, express, kysely];
  return `# Results of \`npm run bench\`

${surroundings}. Server, load and PostgreSQL share the machine.

- The services are built, with default settings. The [baselines](src/baselines) are Express with Sequelize, Fastify with Kysely, and Fastify with a constant.
- PostgreSQL has its defaults except \`shared_buffers = 512MB\`: a write is on disk before its response.
- ${rows.items.toLocaleString('en')} items and ${rows.tutorials.toLocaleString('en')} tutorials, requested at random. Figures are medians of ${rounds} rounds of ${seconds} s.

## Goals

Ratios within a round, with what is wanted, over 64 connections; of several scenarios, the worst. Missed goals are bold.

${goalsTable(samples)}

${limits.map((limit) => `- ${limit}`).join('\n')}

## 64 connections

${figuresTable(samples, 64, contestants)}

## One connection

${figuresTable(samples, 1, contestants)}
`;
}

/** Tables of this checkout and another one, with the median of the ratios within each round. */
export const comparison = (samples: readonly Sample[]) =>
  [64, 1].map((connections) => figuresTable(samples, connections, [service, names.other], names.other)).join('\n\n');
