import { names } from './contestants.ts';
import { median, type Outcome } from './goals.ts';
import type { Plan, Sample } from './measure.ts';

/** A Markdown table whose columns have even widths. The first column is aligned to the left, the others to the right. */
export function table(headings: string[], rows: string[][]): string {
  const widths = headings.map((heading, index) =>
    Math.max(3, heading.length, ...rows.map((row) => row[index]!.length)),
  );
  const line = (cells: string[]) =>
    `| ${cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[index]!))).join(' | ')} |`;
  const rule = widths.map((width, index) => (index === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(headings), line(rule), ...rows.map(line)].join('\n');
}

/** Table of the goals, with a column for each contestant that the service is compared with; missed ones are bold. */
export function outcomesTable(outcomes: readonly Outcome[]): string {
  const contestants = [...new Set(outcomes.flatMap(({ ratios }) => ratios.map(({ against }) => against)))];
  const rows = outcomes.map(({ what, ratios }) => {
    const cells = contestants.map((name) => ratios.find(({ against }) => against === name));
    return [what, ...cells.map((cell) => (!cell || cell.isReached ? (cell?.text ?? '') : `**${cell.text}**`))];
  });
  return table(['Ratio to', ...contestants], rows);
}

const figures = {
  'p99, ms': { metric: 'p99Ms', digits: 1 },
  'CPU, µs': { metric: 'cpuUs', digits: 0 },
  'RSS, MB': { metric: 'rssMb', digits: 0 },
} as const;

/**
 * Table of medians: a row for each scenario, with the requests per second of the contestants, and other figures of the service.
 * @param headings of the other figures
 */
export function figuresTable(
  samples: readonly Sample[],
  connections: number,
  contestants: string[],
  headings = Object.keys(figures) as (keyof typeof figures)[],
): string {
  const measured = samples.filter((sample) => sample.connections === connections);
  const rows = [...Map.groupBy(measured, ({ scenario }) => scenario)].map(([scenario, each]) => {
    const medianOf = (name: string, metric: 'perSecond' | 'p99Ms' | 'cpuUs' | 'rssMb', digits = 0) => {
      const value = median(each.filter(({ contestant }) => contestant === name).map((sample) => sample[metric]));
      const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
      return Number.isNaN(value) ? '' : value.toLocaleString('en', format);
    };
    return [
      ...[scenario, ...contestants.map((name) => medianOf(name, 'perSecond'))],
      ...headings.map((heading) => medianOf(names.service, figures[heading].metric, figures[heading].digits)),
    ];
  });
  return table(['Requests/s', ...contestants, ...headings], rows);
}

/**
 * The page of results.
 * @param surroundings a line that says where, when and with what was measured
 * @param limits a line for each figure of the service that has a limit
 */
export function resultsPage(
  surroundings: string,
  { rounds, seconds, rows }: Plan,
  outcomes: readonly Outcome[],
  limits: readonly string[],
  samples: readonly Sample[],
): string {
  const contestants = [names.service, names.express, names.kysely];
  return `# Results of \`npm run bench\`

${surroundings}. Server, load and PostgreSQL share the machine.

![Requests per second with 64 connections](chart.svg)

- The services are built, with default settings. The [baselines](src/baselines) are Express with Sequelize, Fastify with Kysely, and Fastify with a constant.
- PostgreSQL has its defaults except \`shared_buffers = 512MB\`: a write is on disk before its response.
- ${rows.items.toLocaleString('en')} items and ${rows.tutorials.toLocaleString('en')} tutorials, requested at random. Figures are medians of ${rounds} rounds of ${seconds} s.

## Goals

Ratios within a round, with what is wanted, over 64 connections; of several scenarios, the worst. Missed goals are bold.

${outcomesTable(outcomes)}

${limits.map((limit) => `- ${limit}`).join('\n')}

## 64 connections

${figuresTable(samples, 64, contestants)}

## One connection

${figuresTable(samples, 1, contestants, ['p99, ms'])}
`;
}
