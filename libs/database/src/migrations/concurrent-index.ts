import { setTimeout as sleep } from 'node:timers/promises';
import { sql, type QueryExecutorProvider, type RawBuilder } from 'kysely';

/** A migration that creates an index outside a transaction. Requests that read and write the table do not wait for it. */
export interface ConcurrentIndex {
  /** Name of the index. */
  createIndexConcurrently: string;
  /** Name of the table. */
  on: string;
  /** The rest of the statement, such as `(status) where …` or `using gin (…)`. */
  definition: RawBuilder<unknown>;
  unique?: boolean;
  /** Creates what the definition needs; runs again after a failure. */
  prepare?: (db: QueryExecutorProvider) => Promise<void>;
}

/** Not Kysely's lock: processes of an older release wait for that one in a statement. The number is arbitrary. */
const LOCK_ID = 1_207_846_339;
const RETRY_MS = 1_000;

/**
 * Waits until no other process creates an index. Polls, because a session that waits in a statement has a snapshot, for whose end
 * the other process would wait.
 * @param onWaiting called with the process ids of the sessions that hold the lock, at each retry
 */
export async function lockIndexes(db: QueryExecutorProvider, onWaiting: (pids: number[]) => void): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ isLocked: boolean; holders: number[] }>`
      select pg_try_advisory_lock(${LOCK_ID}) as "isLocked", array(
        select pid from pg_locks join pg_database on pg_database.oid = database
        where locktype = 'advisory' and granted and datname = current_database()
          and (classid, objid, objsubid) = (0, ${LOCK_ID}, 1)
      ) as holders`.execute(db);
    const { isLocked, holders } = rows[0]!;
    if (isLocked) return;
    onWaiting(holders);
    await sleep(RETRY_MS);
  }
}

export async function unlockIndexes(db: QueryExecutorProvider): Promise<void> {
  await sql`select pg_advisory_unlock(${LOCK_ID})`.execute(db);
}

/**
 * Keeps an index that is valid, and replaces an invalid one, which a failure has left. Waits for older transactions without a timeout,
 * because no request waits for it.
 * @throws the error of the statement, after dropping the index: an invalid one that is unique would still refuse rows
 */
export async function createIndex(db: QueryExecutorProvider, index: ConcurrentIndex): Promise<void> {
  const { createIndexConcurrently: name, on: table, definition, unique = false } = index;
  await sql`set lock_timeout = 0`.execute(db);
  if ((await dropUnlessValid(db, index)) === 'valid') return;
  await index.prepare?.(db);
  const kind = sql.raw(unique ? 'unique index' : 'index');
  try {
    await sql`create ${kind} concurrently ${sql.id(name)} on ${sql.id(table)} ${definition}`.execute(db);
  } catch (error) {
    // The first error says more than that of a lost session.
    await dropUnlessValid(db, index).catch(() => undefined);
    throw error;
  }
}

async function dropUnlessValid(
  db: QueryExecutorProvider,
  { createIndexConcurrently: name, on: table }: ConcurrentIndex,
) {
  const { rows } = await sql<{ schema: string; isValid: boolean }>`
    select nspname as schema, indisvalid as "isValid"
    from pg_index join pg_class on pg_class.oid = indexrelid join pg_namespace on pg_namespace.oid = relnamespace
    where indrelid = to_regclass(quote_ident(${table})) and relname = ${name}`.execute(db);
  const found = rows[0];
  if (!found) return 'absent';
  if (found.isValid) return 'valid';
  await sql`drop index concurrently ${sql.id(found.schema, name)}`.execute(db);
  return 'absent';
}
