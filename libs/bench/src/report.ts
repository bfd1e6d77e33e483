import { names } from './contestants.ts';
import { serverSettings } from './databases.ts';
import { metrics, spreadOf, type Cell, type Sample } from './statistics.ts';
import type { Outcome } from './goals.ts';
import { READY_CONNECTIONS, type Plan } from './plan.ts';

/** Where, when and with what was measured. */
export interface Surroundings {
  processor: string;
  cores: number;
  memoryGb: number;
  system: string;
  node: string;
  postgres: string;
  fsync: string;
  synchronousCommit: string;
  loadGenerator: string;
  /** `undefined` where it is not installed. */
  date: string;
}

/** One line that says where and when. */
export const inOneLine = ({ processor, cores, node, postgres, date }: Surroundings) =>
  `${processor}, ${cores} cores, Node.js ${node}, PostgreSQL ${postgres}, ${date}`;

type Align = 'left' | 'right';

/** A Markdown table with columns of even width, which reads well in a terminal too. */
export function table(columns: [heading: string, align: Align][], rows: string[][]): string {
  const widths = columns.map(([heading], index) =>
    Math.max(3, heading.length, ...rows.map((row) => row[index]!.length)),
  );
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const pad = (text: string, index: number) =>
    columns[index]![1] === 'right' ? text.padStart(widths[index]!) : text.padEnd(widths[index]!);
  const rule = columns.map(([, align], index) =>
    align === 'right' ? `${'-'.repeat(widths[index]! - 1)}:` : '-'.repeat(widths[index]!),
  );
  return [
    line(columns.map(([heading], index) => pad(heading, index))),
    line(rule),
    ...rows.map((row) => line(row.map(pad))),
  ].join('\n');
}

/** Table of the goals and their outcomes. */
export function outcomesTable(outcomes: Outcome[]): string {
  return table(
    [
      ['What', 'left'],
      ['Against', 'left'],
      ['Wanted', 'right'],
      ['Median', 'right'],
      ['Least–most', 'right'],
      ['Reached', 'left'],
    ],
    outcomes.map(({ what, against, wanted, measured, spread, isReached }) => [
      ...[what, against, wanted, measured, spread],
      isReached ? 'yes' : 'no',
    ]),
  );
}

/** All figures of one scenario, as medians; of the requests per second the spread too. */
export function cellsTable(cells: Cell[]): string {
  const rows = cells.flatMap(({ connections, samples }) =>
    [...samples].map(([contestant, each]) => {
      const perSecond = spreadOf(each.map(metrics.requests))!;
      const median = (figure: (sample: Sample) => number | undefined, digits: number) =>
        spreadOf(each.map(figure).filter((value) => value !== undefined))?.median.toFixed(digits) ?? '';
      return [
        ...[
          String(connections),
          contestant,
          whole(perSecond.median),
          `${whole(perSecond.min)}–${whole(perSecond.max)}`,
        ],
        ...[median(({ p50Ms }) => p50Ms, 2), median(({ p99Ms }) => p99Ms, 2)],
        ...[median(({ serviceCpuUs }) => serviceCpuUs, 0), median(({ databaseCpuUs }) => databaseCpuUs, 0)],
        median(({ rssMb }) => rssMb, 0),
      ];
    }),
  );
  return table(
    [
      ['Connections', 'right'],
      ['', 'left'],
      ['Requests/s', 'right'],
      ['Least–most', 'right'],
      ['p50, ms', 'right'],
      ['p99, ms', 'right'],
      ['CPU of the service, µs', 'right'],
      ['CPU of PostgreSQL, µs', 'right'],
      ['RSS, MB', 'right'],
    ],
    rows,
  );
}

const whole = (value: number) => Math.round(value).toLocaleString('en');

/** The page of results. */
export function resultsPage(
  surroundings: Surroundings,
  plan: Plan,
  outcomes: Outcome[],
  cells: Cell[],
  titles: ReadonlyMap<string, string>,
): string {
  const { fsync, synchronousCommit } = surroundings;
  const changed = Object.entries(serverSettings).map(([name, value]) => `\`${name}\`, which is ${value}`);
  const scenarios = [...new Set(cells.map(({ scenario }) => scenario))];
  return `# What the services can do

Written by \`npm run bench\` on ${surroundings.date}; to be repeated there or elsewhere, not to be edited.

![Requests per second with 64 connections](chart.svg)

- Machine: ${surroundings.processor}, ${surroundings.cores} cores, ${surroundings.memoryGb} GB of memory, ${surroundings.system}. The server, the load and PostgreSQL share it.
- Node.js ${surroundings.node}, PostgreSQL ${surroundings.postgres}; load by ${surroundings.loadGenerator}.
- \`fsync\` is ${fsync} and \`synchronous_commit\` is ${synchronousCommit}, PostgreSQL's defaults, in every figure: what is acknowledged is on disk. All its other settings are the defaults, but for ${changed.join(', and ')}.
- ${plan.rows.items.toLocaleString('en')} items and ${plan.rows.tutorials.toLocaleString('en')} tutorials. Ids, deep pages and search texts are drawn anew for each request.
- Before its first round of a scenario everybody is asked the same over ${READY_CONNECTIONS} connections for ${plan.readySeconds} s, so that it is compiled when it is measured.
- Each figure is the median of ${plan.rounds} rounds of ${plan.seconds} s. In each round everybody has a turn, and who begins changes. A ratio is taken within a round.
- The service is what \`nx build\` makes, in production mode with its default settings; its log goes to \`/dev/null\`. The others are in [src/contestants](src/contestants), with 10 connections to PostgreSQL each, as the service has, kept as long as it keeps its own, and no log. All run with the \`NODE_OPTIONS\` and \`MALLOC_ARENA_MAX\` of the images. “${names.statementPerRequest}” reads and writes the service's own table, whose triggers count rows, so that the ratio to it says what sharing statements brings; Express + Sequelize has a table with the same rows and without triggers, as it would have. They find a deep page by reading all rows before it; with 512 connections that takes longer than a measurement.

## What is to be reached

${outcomesTable(outcomes)}

${scenarios
  .map(
    (scenario) => `## ${titles.get(scenario)!}\n\n${cellsTable(cells.filter((cell) => cell.scenario === scenario))}\n`,
  )
  .join('\n')}`;
}
