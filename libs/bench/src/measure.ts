import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from '@rest-services/local-postgres';
import { untilIdle } from './databases.ts';
import { runLoad } from './load.ts';
import type { Request, Rows } from './scenarios.ts';
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

/** Plan for the published results. */
export const fullPlan: Plan = {
  rows: { items: 1_000_000, tutorials: 100_000 },
  rounds: 5,
  seconds: 1.2,
  readySeconds: 4,
  warmUpSeconds: 0.4,
};

/** Number of connections of the load that makes each contestant ready. */
const READY_CONNECTIONS = 64;

/** What a contestant does in a scenario. */
export interface Entry {
  scenario: string;
  contestant: string;
  server: Server;
  request: Request;
}

/** What one measurement of a contestant has found. */
export interface Sample {
  scenario: string;
  connections: number;
  contestant: string;
  round: number;
  perSecond: number;
  p99Ms: number;
  /** CPU microseconds per request of the server and PostgreSQL. */
  cpuUs: number;
  /** Memory of the server. */
  rssMb: number;
}

/** What a benchmark that runs has around it. */
export interface Benchmark {
  /** For its files; removed at its end. */
  directory: string;
  /** Calls `stop` at the end, also after an error or a signal, in the reverse order of these calls. */
  stopAtEnd: (stop: () => Promise<unknown>) => void;
  /** Is aborted by a signal. */
  interruption: AbortSignal;
}

/** Runs a benchmark. The process exits with 1 when it fails, or when a signal ends it. */
export async function runBenchmark(run: (benchmark: Benchmark) => Promise<void>) {
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const stops: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  try {
    await run({ directory, stopAtEnd: (stop) => stops.push(stop), interruption: interruption.signal });
  } catch (error) {
    console.error(interruption.signal.aborted ? 'Interrupted.' : error);
    process.exitCode = 1;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/**
 * Measures each scenario with each number of connections. In each round each contestant has one turn, and another one is first.
 * @throws Error after a signal, or when a request that is measured is not answered with 2xx
 */
export async function measure(entries: Entry[], plan: Plan, cluster: Cluster, benchmark: Benchmark): Promise<Sample[]> {
  const load = async ({ server: { url }, request }: Entry, connections: number, seconds: number) => {
    benchmark.interruption.throwIfAborted();
    return runLoad({ url, request, connections, seconds }, benchmark.directory);
  };
  const samples: Sample[] = [];
  for (const [scenario, rivals] of Map.groupBy(entries, (entry) => entry.scenario)) {
    for (const entry of rivals) await load(entry, READY_CONNECTIONS, plan.readySeconds);
    for (const connections of [1, 64]) {
      console.error(`Measuring ${scenario} with ${connections} connections …`);
      for (let round = 0; round < plan.rounds; round += 1) {
        const first = round % rivals.length;
        for (const entry of [...rivals.slice(first), ...rivals.slice(0, first)])
          samples.push({ scenario, connections, round, ...(await take(entry, connections)) });
      }
    }
  }
  return samples;

  async function take(entry: Entry, connections: number) {
    const { contestant, server } = entry;
    await load(entry, connections, plan.warmUpSeconds);
    await untilIdle(cluster.url);
    const before = await cpuUsOf(server.pid, cluster.pid);
    const { requests, perSecond, p99Ms, failed } = await load(entry, connections, plan.seconds);
    const cpuUs = ((await cpuUsOf(server.pid, cluster.pid)) - before) / requests;
    await untilIdle(cluster.url);
    if (failed > 0 || requests === 0)
      throw new Error(`${contestant}, ${entry.scenario}: ${failed} of ${requests} requests failed`);
    return { contestant, perSecond, p99Ms, cpuUs, rssMb: await rssMbOf(server.pid) };
  }
}
