import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '@rest-services/local-postgres';
import { FINAL_CLIENT, findViolations } from './checks/checks.ts';
import { runBulkTransactions } from './clients/bulk.ts';
import { KnownItems, runClient, send, WHOLE_LIST } from './clients/clients.ts';
import { Random } from './clients/random.ts';
import { describe, History, isDone, list, rowsOf, type Request } from './history.ts';

export type { History } from './history.ts';

const CLIENTS = 8;

/** Time in which the services must respond after all faults have healed. */
const RECOVERY_MS = 15_000;
const PROBE_INTERVAL_MS = 50;

/** Limit of the pages that are read at the end. */
const PAGE_ROWS = 20;

/** Sessions of the services that run a statement. */
const BUSY = `select from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`;

const SUMMARY: Request = { kind: 'summary', method: 'GET', path: '/v1/items/summary' };

export interface RunOptions {
  seed: number;
  /** Base URLs of the services. */
  urls: string[];
  /** @returns the connection string of the services' database at the current primary, which is empty at the start */
  databaseUrl: () => Promise<string> | string;
  /** Causes faults, and heals them. Clients send requests until it has ended. */
  fault?: (random: Random, history: History) => Promise<unknown>;
}

/**
 * Runs clients and faults on services, as the seed decides, and checks the history.
 * @returns its violations, and the time that the longest request to a service took
 */
export async function runSeed({ seed, urls, databaseUrl, fault }: RunOptions) {
  const random = new Random(seed);
  const history = new History();
  const known = new KnownItems();
  const healed = new AbortController();
  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    runClient({ name: `client-${index + 1}`, random: random.fork(), urls, known, history, signal: healed.signal }),
  );
  const ended = new AbortController();
  const bulk = runBulkTransactions(random.fork(), { known, history, signal: ended.signal }, databaseUrl);
  const faults = Promise.resolve(fault?.(random.fork(), history)).finally(() => healed.abort());
  await Promise.all([faults, ...clients]).finally(() => ended.abort());
  await bulk;
  await readFinalState();

  const requests = history.operations.filter(({ client, service }) => client !== FINAL_CLIENT && service !== undefined);
  return {
    ...{ violations: findViolations(history.operations), history },
    longestMs: Math.max(...requests.map(({ startedAt, endedAt }) => endedAt - startedAt)),
  };

  /** Reads everything from each service, when no statement of a client is running any more. */
  async function readFinalState() {
    await Promise.all(urls.map((_, service) => untilDone(service, list(1, 1), 'probe')));
    await withClient(await databaseUrl(), async (client) => {
      while ((await client.query(BUSY)).rowCount! > 0) await sleep(PROBE_INTERVAL_MS);
    });
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
      if (history.now() > deadline) throw new Error(`Not done without faults: ${describe(operation)}`);
    }
  }
}
