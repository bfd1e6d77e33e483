import type { Cluster } from '@rest-services/local-postgres';
import type { Server } from './contestants.ts';
import { cpuOf, cpuOfFamily, rssMbOf } from './cpu.ts';
import { untilIdle } from './databases.ts';
import type { LoadGenerator } from './load.ts';
import { READY_CONNECTIONS, type Plan } from './plan.ts';
import type { Scenario } from './scenarios.ts';
import type { Cell, Sample } from './statistics.ts';

/** Measured server or program. It has one turn in each round of each cell that it takes part in. */
export interface Contestant {
  name: string;
  takesPart(scenario: string, connections: number): boolean;
  /** Is called before the first turn of each scenario. */
  makeReady?(scenario: Scenario): Promise<void>;
  turn(scenario: Scenario, connections: number): Promise<Sample>;
}

/** Where in the benchmark a turn is, for the progress bar. */
export interface Turn {
  scenario: Scenario;
  connections: number;
  round: number;
  contestant: Contestant;
}

/** All turns in their order. Each contestant has one per round, and the first contestant changes from round to round. */
export function turnsOf(plan: Plan, scenarios: Scenario[], contestants: Contestant[]): Turn[] {
  return scenarios.flatMap((scenario) =>
    plan.connections.flatMap((connections) => {
      const present = contestants.filter((each) => each.takesPart(scenario.name, connections));
      return Array.from({ length: plan.rounds }, (_, round) => {
        const first = round % present.length;
        const order = [...present.slice(first), ...present.slice(0, first)];
        return order.map((contestant) => ({ scenario, connections, round, contestant }));
      }).flat();
    }),
  );
}

/** What was measured, and what could not be. */
export interface Results {
  cells: Cell[];
  /** By what was measured and whose turn it was, why it has no figure. */
  failures: Map<string, string>;
}

/**
 * Takes the turns in sequence. A contestant that fails in a cell has no figure in it and no further turn; the others go on,
 * so that a long run is not lost.
 * @param onTurn is called before each
 */
export async function measure(turns: Turn[], onTurn: (turn: Turn) => void): Promise<Results> {
  const cells = new Map<string, Cell>();
  const failures = new Map<string, string>();
  const ready = new Set<string>();
  for (const turn of turns) {
    onTurn(turn);
    const { scenario, connections, contestant } = turn;
    const place = `${scenario.title}, ${connections} connections, ${contestant.name}`;
    if (failures.has(place)) continue;
    const key = `${scenario.name} ${connections}`;
    const cell = cells.get(key) ?? { scenario: scenario.name, connections, samples: new Map<string, Sample[]>() };
    cells.set(key, cell);
    try {
      const role = `${scenario.name} ${contestant.name}`;
      if (!ready.has(role)) await contestant.makeReady?.(scenario);
      ready.add(role);
      const sample = await contestant.turn(scenario, connections);
      cell.samples.set(contestant.name, [...(cell.samples.get(contestant.name) ?? []), sample]);
    } catch (error) {
      failures.set(place, (error as Error).message);
      cell.samples.delete(contestant.name);
    }
  }
  return { cells: [...cells.values()], failures };
}

/** What a server is measured with. */
export interface Instruments {
  generator: LoadGenerator;
  plan: Plan;
  cluster: Cluster;
}

/** Asks a server until its runtime has compiled what answers. */
export async function makeServerReady(
  { url }: Server,
  { requests }: Scenario,
  { generator, plan, cluster }: Instruments,
): Promise<void> {
  await generator.run({ url, requests, connections: READY_CONNECTIONS, seconds: plan.readySeconds });
  await untilIdle(cluster.url);
}

/** @throws Error when a request that is measured is not answered with 2xx */
export async function measureServer(
  { url, pid }: Server,
  { requests }: Scenario,
  connections: number,
  { generator, plan, cluster }: Instruments,
): Promise<Sample> {
  await generator.run({ url, requests, connections, seconds: plan.warmUpSeconds });
  await untilIdle(cluster.url);
  const before = await usage(pid, cluster.pid);
  const result = await generator.run({ url, requests, connections, seconds: plan.seconds });
  const after = await usage(pid, cluster.pid);
  await untilIdle(cluster.url);
  if (result.failed > 0) throw new Error(`${result.failed} requests failed, of ${result.requests}`);
  if (result.requests === 0) throw new Error(`no request was answered within ${plan.seconds} s`);
  const perRequest = (from?: number, to?: number) =>
    from === undefined || to === undefined ? undefined : (to - from) / result.requests;
  return {
    perSecond: result.perSecond,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    serviceCpuUs: perRequest(before.service, after.service),
    databaseCpuUs: perRequest(before.database, after.database),
    rssMb: await rssMbOf(pid),
  };
}

async function usage(service: number, postmaster: number) {
  return { service: await cpuOf(service), database: await cpuOfFamily(postmaster) };
}
