import type { Cluster } from '@rest-services/local-postgres';
import { untilIdle } from './databases.ts';
import { runLoad } from './load.ts';
import type { Contestant, Rows, Scenario } from './scenarios.ts';
import { cpuUsOf, rssMbOf, type Server } from './servers.ts';

/** Amount and times of the measurements. */
export interface Plan {
  rows: Rows;
  rounds: number;
  seconds: number;
  /** Before the first measurement of a scenario, for a runtime that compiles what is run often. */
  readySeconds: number;
  /** Before each measurement, over the same connections. */
  warmUpSeconds: number;
}

/** Number of connections of the load that makes each contestant ready. */
const READY_CONNECTIONS = 64;

/** What one measurement of a contestant has found. */
export interface Figures {
  perSecond: number;
  p99Ms: number;
  /** CPU microseconds per request of the server and PostgreSQL. */
  cpuUs: number;
  /** Memory of the server. */
  rssMb: number;
}

/** What the rounds of a scenario have found. */
export interface Result {
  scenario: string;
  connections: number;
  rounds: Partial<Record<Contestant, Figures>>[];
}

/** The servers of a contestant. */
export type Servers = Record<Scenario['service'], Server>;

/**
 * Measures each scenario with each number of connections. In each round each contestant has one turn, and another one is first.
 * @throws Error after a signal, or when a request that is measured is not answered with 2xx
 */
export async function measure(
  scenarios: Scenario[],
  servers: Partial<Record<Contestant, Servers>>,
  plan: Plan,
  cluster: Cluster,
  directory: string,
  signal: AbortSignal,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const { title: scenario, service, request, rivals } of scenarios) {
    const entries = (['This service', ...rivals] as const).map((contestant) => {
      const server = servers[contestant]![service];
      const sent = contestant === 'POST' ? { ...request, key: undefined } : request;
      const load = (connections: number, seconds: number) =>
        runLoad(server.url, sent, connections, seconds, directory, signal);
      return { contestant, server, load };
    });
    for (const { load } of entries) await load(READY_CONNECTIONS, plan.readySeconds);
    for (const connections of [1, 64]) {
      console.error(`Measuring ${scenario} with ${connections} connections …`);
      const rounds: Result['rounds'] = Array.from({ length: plan.rounds }, () => ({}));
      for (const [index, round] of rounds.entries()) {
        const first = index % entries.length;
        for (const { contestant, server, load } of [...entries.slice(first), ...entries.slice(0, first)]) {
          await load(connections, plan.warmUpSeconds);
          await untilIdle(cluster.url);
          const before = await cpuUsOf(server.pid, cluster.pid);
          const { requests, perSecond, p99Ms, failed } = await load(connections, plan.seconds);
          const cpuUs = ((await cpuUsOf(server.pid, cluster.pid)) - before) / requests;
          await untilIdle(cluster.url);
          if (failed > 0 || requests === 0)
            throw new Error(`${contestant}, ${scenario}: ${failed} of ${requests} requests failed`);
          round[contestant] = { perSecond, p99Ms, cpuUs, rssMb: await rssMbOf(server.pid) };
        }
      }
      results.push({ scenario, connections, rounds });
    }
  }
  return results;
}
