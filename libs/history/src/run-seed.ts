import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { FINAL_CLIENT, findViolations } from './checks/checks.ts';
import type { Violation } from './checks/violation.ts';
import { runBulkTransactions } from './clients/bulk.ts';
import { KnownItems, list, runClient, summary, WHOLE_LIST } from './clients/clients.ts';
import { Random } from './clients/random.ts';
import { openClient } from './clients/send.ts';
import { directOperation, History, isDone, isUnknown, rowsOf, type Operation, type Row } from './history.ts';
import { makeSchedule, runFaults, type FaultKind, type FaultyParts } from './system/faults.ts';

const CLIENTS = 8;

/** Minimum number of requests whose outcome each client knows: fewer would show little. */
const MIN_KNOWN = 40;

/** Items that exist at the start of every second seed: their list is read in two chunks. */
const EARLIER_ITEMS = 300;

/** Time in which the services must respond after all faults have healed. */
const RECOVERY_MS = 15_000;

/** Limit of the pages that are read at the end. */
const PAGE_ROWS = 100;

const PROBE_INTERVAL_MS = 50;

/** Whether clients have created the item beside items that are not theirs. */
export const isOurs = ({ title }: Row) => title.startsWith('soak-');

export interface RunOptions {
  seed: number;
  seconds: number;
  /** Minimum number of requests whose outcome each client knows, which may take more than the seconds. */
  minKnown?: number;
  /** Base URLs of the services. */
  urls: string[];
  /**
   * @returns the connection string of the services' database at the current primary, which is empty at the start. Without, clients
   *   change only their own items, and nothing runs beside the services.
   */
  databaseUrl?: () => Promise<string> | string;
  /** What faults happen to; without, there are none. */
  parts?: FaultyParts;
  /** Causes another fault, when the clients send requests. */
  fault?: () => Promise<unknown>;
}

export interface Report {
  violations: Violation[];
  history: History;
  /** Number of requests to the services. */
  requests: number;
  /** Number of those whose outcome is unknown. */
  unknown: number;
  faults: Partial<Record<FaultKind, number>>;
  longestMs: number;
}

/** Runs clients and faults on services, as the seed decides, and checks the history. */
export async function runSeed({
  seed,
  seconds,
  minKnown = MIN_KNOWN,
  urls,
  databaseUrl,
  parts,
  fault,
}: RunOptions): Promise<Report> {
  const random = new Random(seed);
  const lanes = parts ? makeSchedule(random.fork(), seconds, urls.length) : [];
  const history = new History();
  const known = new KnownItems(databaseUrl ? () => true : isOurs);
  if (databaseUrl && seed % 2) await withClient(databaseUrl, createEarlierItems);
  const { send, close } = openClient();
  known.learn(await untilDone(0, list(1, WHOLE_LIST)));
  history.operations.unshift(...rowsOf(history.operations.at(-1)!).map(earlierCreate));

  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const client = openClient();
    const name = `${databaseUrl ? 'client' : 'soak'}-${seed}-${index + 1}`;
    await runClient({ name, random: random.fork(), urls, known, history, send: client.send, seconds, minKnown });
    client.close();
  });
  const ended = new AbortController();
  const bulk =
    databaseUrl && runBulkTransactions({ random: random.fork(), known, history, databaseUrl, signal: ended.signal });
  const faults = parts ? runFaults(lanes, parts, history, seconds) : { counts: {}, freezes: [] };
  const [{ counts, freezes }] = await Promise.all([faults, fault?.(), ...clients]).finally(() => ended.abort());
  await bulk;
  await readFinalState();
  close();

  const requests = history.operations.filter(({ client, service }) => client !== FINAL_CLIENT && service !== undefined);
  return {
    violations: findViolations(history.operations, { freezes }),
    history,
    requests: requests.length,
    unknown: requests.filter(isUnknown).length,
    faults: counts,
    longestMs: Math.max(...requests.map(({ startedAt, endedAt }) => endedAt - startedAt)),
  };

  /** Reads everything from the database and from each service, when no statement of a client is running any more. */
  async function readFinalState() {
    await Promise.all(urls.map((_, service) => untilDone(service, list(1, 1))));
    if (databaseUrl) await withClient(databaseUrl, readDatabase);
    for (const service of urls.keys()) {
      await untilDone(service, list(1, WHOLE_LIST), FINAL_CLIENT);
      await untilDone(service, summary, FINAL_CLIENT);
      const walk = known.nextWalk();
      for (let page = 1, isFull = databaseUrl !== undefined; isFull; page += 1) {
        const { length } = rowsOf(await untilDone(service, { ...list(page, PAGE_ROWS), walk }, FINAL_CLIENT));
        isFull = length === PAGE_ROWS;
      }
    }
  }

  async function untilDone(service: number, request: Parameters<History['record']>[3], client = 'probe') {
    const deadline = history.now() + RECOVERY_MS;
    for (;;) {
      const operation = await history.record(client, service, urls[service]!, request, send);
      if (isDone(operation)) return operation;
      await sleep(PROBE_INTERVAL_MS);
      if (history.now() > deadline) throw new Error(`Service ${service} does not respond without faults`);
    }
  }

  async function readDatabase(client: pg.Client) {
    while (await isBusy(client)) continue;
    const startedAt = history.now();
    const { rows } = await client.query<{ rows: Row[]; total: number }>(`
      select coalesce((select json_agg(i order by id) from (select id, title, status from item) as i), '[]') as rows,
        (select total::integer from item_count) as total`);
    const response = { status: 200, requestId: '', total: rows[0]!.total, body: rows[0]!.rows };
    const times = { startedAt, endedAt: history.now() };
    const common = { client: FINAL_CLIENT, service: undefined, requestId: '' };
    history.operations.push({ ...list(1, WHOLE_LIST), ...common, ...times, response });
  }
}

const createEarlierItems = (client: pg.Client) =>
  client.query(`insert into item (title) select 'earlier-' || n from generate_series(1, $1::integer) as n`, [
    EARLIER_ITEMS,
  ]);

/** The create that would have made an item that is there. */
const earlierCreate = ({ id, title, status }: Row): Operation =>
  directOperation('create', id, { title, status }, { client: 'setup', startedAt: -1, endedAt: 0 });

/** Whether a session of a service runs a statement. */
async function isBusy(client: pg.Client) {
  const { rowCount } = await client.query(
    `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
  );
  return rowCount! > 0;
}

async function withClient(
  url: NonNullable<RunOptions['databaseUrl']>,
  use: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client({ connectionString: await url() });
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}
