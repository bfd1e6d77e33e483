import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { FINAL_CLIENT, findViolations } from './checks/checks.ts';
import { connectTo, runBulkTransactions } from './clients/bulk.ts';
import { KnownItems, runClient, send, WHOLE_LIST } from './clients/clients.ts';
import { Random } from './clients/random.ts';
import { History, isDone, isUnknown, list, rowsOf, type Request } from './history.ts';

const CLIENTS = 8;

/** Minimum number of requests whose outcome each client knows: fewer would show little. */
const MIN_KNOWN = 40;

/** Time in which the services must respond after all faults have healed. */
const RECOVERY_MS = 15_000;
const PROBE_INTERVAL_MS = 50;

/** Limit of the pages that are read at the end. */
const PAGE_ROWS = 20;

const SUMMARY: Request = { kind: 'summary', method: 'GET', path: '/v1/items/summary' };

export interface RunOptions {
  seed: number;
  seconds: number;
  /** Minimum number of requests whose outcome each client knows, which may take more than the seconds. */
  minKnown?: number;
  /** Base URLs of the services. */
  urls: string[];
  /** @returns the connection string of the services' database at the current primary, which is empty at the start */
  databaseUrl: () => Promise<string> | string;
  /** Causes faults while clients send requests, and heals them. */
  fault?: (random: Random) => Promise<unknown>;
}

/**
 * Runs clients and faults on services, as the seed decides, and checks the history.
 * @returns its violations, the number of requests to the services, and how many of these have an unknown outcome
 */
export async function runSeed({ seed, seconds, minKnown = MIN_KNOWN, urls, databaseUrl, fault }: RunOptions) {
  const random = new Random(seed);
  const history = new History();
  const known = new KnownItems();
  const connect = async () => connectTo(await databaseUrl());
  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    runClient({ name: `client-${index + 1}`, random: random.fork(), urls, known, history, seconds, minKnown }),
  );
  const ended = new AbortController();
  const bulk = runBulkTransactions(random.fork(), { known, history, signal: ended.signal }, connect);
  await Promise.all([fault?.(random.fork()), ...clients]).finally(() => ended.abort());
  await bulk;
  await readFinalState();

  const requests = history.operations.filter(({ client, service }) => client !== FINAL_CLIENT && service !== undefined);
  return {
    ...{ violations: findViolations(history.operations), history, requests: requests.length },
    unknown: requests.filter(isUnknown).length,
    longestMs: Math.max(...requests.map(({ startedAt, endedAt }) => endedAt - startedAt)),
  };

  /** Reads everything from each service, when no statement of a client is running any more. */
  async function readFinalState() {
    await Promise.all(urls.map((_, service) => untilDone(service, list(1, 1), 'probe')));
    const client = await connect();
    while (await isBusy(client)) await sleep(PROBE_INTERVAL_MS);
    await client.end();
    for (const service of urls.keys()) {
      const { length } = rowsOf(await untilDone(service, list(1, WHOLE_LIST)));
      await untilDone(service, SUMMARY);
      for (let page = 1; page <= length / PAGE_ROWS + 1; page += 1) await untilDone(service, list(page, PAGE_ROWS));
    }
  }

  async function untilDone(service: number, request: Request, client = FINAL_CLIENT) {
    const deadline = history.now() + RECOVERY_MS;
    for (;;) {
      const operation = await history.record(client, service, request, send(urls[service]!, request));
      if (isDone(operation)) return operation;
      await sleep(PROBE_INTERVAL_MS);
      if (history.now() > deadline) throw new Error(`Service ${service} does not respond without faults`);
    }
  }
}

/** Whether a session of a service runs a statement. */
async function isBusy(client: pg.Client) {
  const { rowCount } = await client.query(
    `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
  );
  return rowCount! > 0;
}
