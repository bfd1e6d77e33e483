import { format } from 'prettier';
import type { Figures, Plan, Result } from './measure.ts';
import type { Contestant } from './scenarios.ts';

/** Ratios of the service to other contestants that are wanted: at least that of requests per second, at most that of CPU time. */
interface Goal {
  what: string;
  /** The one that `what` names unless given. Of several, the one with the worst ratio counts. */
  scenarios?: string[];
  /** 64 unless given. */
  connections?: number;
  /** Requests per second unless given. */
  metric?: 'cpuUs';
  wanted: Partial<Record<Contestant, number>>;
}

const keyed = 'POST with Idempotency-Key';
const routes = ['GET one', 'GET first page', 'GET deep page', 'Title search', 'POST', 'PUT'];

const goals: Goal[] = [
  { what: 'GET one', wanted: { Express: 5, Fastify: 2.8, Constant: 0.6 } },
  { what: 'GET first page', wanted: { Express: 5, Fastify: 2 } },
  { what: 'POST', wanted: { Express: 5, Fastify: 3.5 } },
  { what: keyed, wanted: { POST: 0.6 } },
  {
    ...{ what: 'CPU per request', scenarios: ['GET one', 'GET first page', 'POST'], metric: 'cpuUs' },
    wanted: { Express: 0.25, Fastify: 0.45 },
  },
  { what: 'One connection', scenarios: routes, connections: 1, wanted: { Express: 1.5, Fastify: 0.95 } },
  { what: `One connection, ${keyed}`, scenarios: [keyed], connections: 1, wanted: { POST: 0.8 } },
];

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

/** The median of the ratios within each round, so that a slow moment of the machine slows both. */
const ratioOf = ({ rounds }: Result, against: Contestant, metric: keyof Figures) =>
  median(rounds.map((round) => round['This service']![metric] / round[against]![metric]));

/** A Markdown table whose first column is aligned to the left, the others to the right. */
function table([first, ...others]: [string, ...string[]], rows: string[][]): string {
  const lines = [[first, ...others], ['---', ...others.map(() => '--:')], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Table of the goals, with a column for each contestant that the service is compared with; missed ones are bold. */
function goalsTable(results: Result[]) {
  const contestants: Contestant[] = ['Express', 'Fastify', 'Constant', 'POST'];
  const cell = (goal: Goal, against: Contestant) => {
    const { what, scenarios = [what], connections = 64, metric = 'perSecond', wanted } = goal;
    const limit = wanted[against];
    const ratios = results
      .filter((each) => scenarios.includes(each.scenario) && each.connections === connections)
      .flatMap((each) => (against in each.rounds[0]! ? ratioOf(each, against, metric) : []));
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
 * The ratio to another checkout has a column, too.
 */
function figuresTable(results: Result[], connections: number, contestants: Contestant[]) {
  const against = contestants.find((name) => name === 'Other checkout');
  const headings = connections === 1 ? ['p99, ms'] : ['p99, ms', 'CPU, µs', 'RSS, MB'];
  const measured = results.filter((each) => each.connections === connections);
  const rows = measured.map((result) => {
    const medianOf = (name: Contestant, metric: keyof Figures, digits = 0) => {
      const values = result.rounds.flatMap((round) => round[name]?.[metric] ?? []);
      const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
      return values.length === 0 ? '' : median(values).toLocaleString('en', format);
    };
    const own = 'This service';
    const figures = [medianOf(own, 'p99Ms', 1), medianOf(own, 'cpuUs'), medianOf(own, 'rssMb')];
    return [
      ...[result.scenario, ...contestants.map((name) => medianOf(name, 'perSecond'))],
      ...(against ? [ratioOf(result, against, 'perSecond').toFixed(2)] : []),
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
  results: Result[],
): Promise<string> {
  const contestants: Contestant[] = ['This service', 'Express', 'Fastify'];
  return formatted(`# Results of \`npm run bench\`

${surroundings}. Server, load and PostgreSQL share the machine.

- The services are built, with default settings. The [baselines](src/baselines) are Express with Sequelize, Fastify with Kysely, and Fastify with a constant.
- PostgreSQL has its defaults except \`shared_buffers = 512MB\`: a write is on disk before its response.
- ${rows.items.toLocaleString('en')} items and ${rows.tutorials.toLocaleString('en')} tutorials, requested at random. Figures are medians of ${rounds} rounds of ${seconds} s.

## Goals

Ratios within a round, with what is wanted, over 64 connections; of several scenarios, the worst. Missed goals are bold.

${goalsTable(results)}

${limits.map((limit) => `- ${limit}`).join('\n')}

## 64 connections

${figuresTable(results, 64, contestants)}

## One connection

${figuresTable(results, 1, contestants)}
`);
}

/** Tables of this checkout and another one, with the median of the ratios within each round. */
export const comparison = (results: Result[]) =>
  formatted([64, 1].map((each) => figuresTable(results, each, ['This service', 'Other checkout'])).join('\n\n'));

/** Gives columns even widths. */
const formatted = (page: string) => format(page, { parser: 'markdown' });
