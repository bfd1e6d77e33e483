import { names } from './contestants.ts';
import type { Sample } from './measure.ts';

/** Ratios of the service to other contestants that are wanted, as the median of the rounds. */
export interface Goal {
  what: string;
  /** Of several, the one with the worst ratio counts. */
  scenarios: string[];
  connections: number;
  /** Requests per second, or CPU time. */
  metric: 'perSecond' | 'cpuUs';
  /** Minimum ratio of requests per second, or maximum ratio of CPU time, by the other contestant. */
  wanted: Record<string, number>;
}

export interface Outcome {
  what: string;
  ratios: { against: string; text: string; isReached: boolean }[];
}

const keyed = 'POST with Idempotency-Key';
const routes = ['GET one', 'GET first page', 'GET deep page', 'Title search', 'POST', 'PUT'];
const common = { connections: 64, metric: 'perSecond' } as const;
const { express, kysely, constant, withoutKey } = names;

export const goals: Goal[] = [
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

/** @returns the ratios that were measured */
export function outcomeOf({ what, scenarios, connections, metric, wanted }: Goal, samples: readonly Sample[]): Outcome {
  const isMinimum = metric === 'perSecond';
  const ratios = Object.entries(wanted).flatMap(([against, limit]) => {
    const measured = scenarios
      .map((scenario) => samples.filter((each) => each.scenario === scenario && each.connections === connections))
      .map((each) => ratioOf(each, against, metric))
      .filter((ratio) => !Number.isNaN(ratio));
    if (measured.length === 0) return [];
    const worst = isMinimum ? Math.min(...measured) : Math.max(...measured);
    const isReached = isMinimum ? worst >= limit : worst <= limit;
    return [{ against, text: `${worst.toFixed(2)} (${isMinimum ? '≥' : '≤'}${limit})`, isReached }];
  });
  return { what, ratios };
}

/** @returns NaN for no values */
export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

/** The median of the ratios within each round, so that a slow moment of the machine slows both. */
function ratioOf(samples: readonly Sample[], against: string, metric: Goal['metric']) {
  const rounds = [...Map.groupBy(samples, ({ round }) => round).values()];
  const figure = (round: readonly Sample[], name: string) =>
    round.find(({ contestant }) => contestant === name)?.[metric] ?? NaN;
  return median(rounds.map((round) => figure(round, names.service) / figure(round, against)));
}
