import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { directOperation, type History, type Row } from '../history.ts';
import { STATUSES, type KnownItems } from './clients.ts';
import type { Random } from './random.ts';

/** Maximum time for which a transaction stays open: the row counts are folded every 250 ms. */
const OPEN_MS = 1_000;

/** Maximum number of ids that a statement changes or deletes. */
const MAX_IDS = 60;

/** Maximum delay before the next transaction. */
const DELAY_MS = 300;

/** Timeout for a connection to a server that may be frozen. */
const CONNECT_MS = 3_000;

interface BulkOptions {
  random: Random;
  known: KnownItems;
  history: History;
  /** @returns the connection string of the services' database at the current primary */
  databaseUrl: () => Promise<string> | string;
  /** Ends it after the transaction that is open. */
  signal: AbortSignal;
}

/**
 * Runs transactions beside the services: each changes, or deletes and inserts, many rows, and stays open while others commit and the
 * row counts are folded. Each row is an operation of the history.
 */
export async function runBulkTransactions({ random, known, history, databaseUrl, signal }: BulkOptions) {
  let created = 0;

  /** @returns the writes, all of which are made at the commit, and what the deleted items were */
  async function change(client: pg.Client) {
    const low = known.pick(random, 0.6) ?? 1;
    const range = [low, low + random.integer(0, MAX_IDS)];
    const query = async (statement: string, ...values: unknown[]) =>
      (await client.query<Row>(`${statement} returning id::integer, title, status`, values)).rows;

    if (random.chance(0.5)) {
      const status = random.pick(STATUSES);
      const update = 'update item set status = $1, updated_at = clock_timestamp() where id between $2 and $3';
      return (await query(update, status, ...range)).map(({ id }) => ['update', id, { status }] as const);
    }
    const deleted = await query('delete from item where id between $1 and $2', ...range);
    const titles = Array.from({ length: random.integer(1, MAX_IDS) }, () => `bulk-${(created += 1)}`);
    const inserted = await query('insert into item (title) select unnest($1::text[])', titles);
    return [
      ...deleted.map(({ id, title, status }) => ['read', id, { title, status }] as const),
      ...deleted.map(({ id }) => ['delete', id, undefined] as const),
      ...inserted.map(({ id, title }) => ['create', id, { title }] as const),
    ];
  }

  async function transact(client: pg.Client) {
    const startedAt = history.now();
    await client.query('begin');
    const operations = await change(client);
    await sleep(random.integer(0, OPEN_MS));
    if (random.chance(0.1)) return void (await client.query('rollback'));
    const error = await client.query('commit').then(
      () => undefined,
      () => 'no response to the commit',
    );
    const common = { client: 'bulk', startedAt, endedAt: history.now() };
    for (const [kind, id, values] of operations) {
      const operation = directOperation(kind, id, values, common, error);
      history.operations.push(operation);
      if (kind !== 'read') known.learn(operation);
    }
  }

  while (!signal.aborted) {
    try {
      const client = new pg.Client({ connectionString: await databaseUrl(), connectionTimeoutMillis: CONNECT_MS });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await transact(client);
      } finally {
        await client.end();
      }
    } catch {
      // The server is away. Without a commit, nothing has been changed.
    }
    await sleep(random.integer(0, DELAY_MS));
  }
}
