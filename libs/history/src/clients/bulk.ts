import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '@rest-services/local-postgres';
import type pg from 'pg';
import type { History, Operation, Row } from '../history.ts';
import { STATUSES, type KnownItems } from './clients.ts';
import type { Random } from './random.ts';

/** Maximum time for which a transaction stays open: the row counts are folded every 250 ms. */
const OPEN_MS = 1_000;

/** Maximum number of rows that a statement writes, and maximum delay before the next transaction. */
const MAX_ROWS = 100;
const DELAY_MS = 300;

/**
 * Runs transactions beside the services: each writes many rows, and stays open while others commit and the
 * row counts are folded. Each row is an operation of the history.
 */
export async function runBulkTransactions(
  random: Random,
  { known, history, signal }: { known: KnownItems; history: History; signal: AbortSignal },
  databaseUrl: () => Promise<string> | string,
) {
  let created = 0;

  /** Writes many rows by one statement. @returns the rows */
  async function write(client: pg.Client, kind: 'create' | 'update' | 'delete') {
    const low = known.pick(random, 0.6) ?? 1;
    const range = [low, low + random.integer(0, MAX_ROWS)];
    const titles = Array.from({ length: random.integer(1, MAX_ROWS) }, () => `bulk-${(created += 1)}`);
    // A new time makes a new tag.
    const update = 'update item set status = $1, updated_at = clock_timestamp() where id between $2 and $3';
    const [statement, ...values] = {
      create: ['insert into item (title) select unnest($1::text[])', titles],
      update: [update, random.pick(STATUSES), ...range],
      delete: ['delete from item where id between $1 and $2', ...range],
    }[kind];
    return (await client.query<Row>(`${statement as string} returning id::integer, title, status`, values)).rows;
  }

  async function transact(client: pg.Client) {
    const startedAt = history.now();
    await client.query('begin');
    const kind = random.pick(['create', 'update', 'delete'] as const);
    const rows = await write(client, kind);
    await sleep(random.integer(0, OPEN_MS));
    if (random.chance(0.1)) return void (await client.query('rollback'));
    const committed = await client.query('commit').catch(() => undefined);
    for (const row of rows) {
      const { id, title, status } = row;
      const common = { client: 'bulk', service: undefined, startedAt, endedAt: history.now(), path: `/v1/items/${id}` };
      const seen = { status: 200, body: row };
      // Nothing else may have seen what is deleted.
      if (kind === 'delete')
        history.operations.push({ ...common, kind: 'read', method: 'GET', key: id, response: seen });
      const operation: Operation = {
        ...{ ...common, kind },
        method: ({ create: 'POST', update: 'PUT', delete: 'DELETE' } as const)[kind],
        ...(kind === 'create' ? { body: { title } } : { key: id, ...(kind === 'update' && { body: { status } }) }),
        ...(committed ? { response: { status: 200, body: { id } } } : { error: 'no response to the commit' }),
      };
      history.operations.push(operation);
      known.learn(operation);
    }
  }

  while (!signal.aborted) {
    try {
      await withClient(await databaseUrl(), transact);
    } catch {
      // The server is away. Without a commit, nothing has been changed.
    }
    await sleep(random.integer(0, DELAY_MS));
  }
}
