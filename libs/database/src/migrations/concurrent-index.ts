import { sql, type QueryExecutorProvider, type RawBuilder } from 'kysely';

/** A migration that creates an index outside a transaction. Requests that read and write the table do not wait for it. */
export interface ConcurrentIndex {
  /** Name of the index. */
  createIndexConcurrently: string;
  /** Name of the table. */
  on: string;
  /** The rest of the statement, such as `(status) where …`. A function creates what it needs; it runs again after a failure. */
  definition: RawBuilder<unknown> | ((db: QueryExecutorProvider) => Promise<RawBuilder<unknown>>);
  unique?: boolean;
}

/**
 * Keeps an index that is valid, and replaces an invalid one, which a failure has left. Waits for older transactions without a timeout,
 * because no request waits for it.
 * @throws the error of the statement, after dropping the index: an invalid one that is unique would still refuse rows
 */
export async function createIndex(db: QueryExecutorProvider, index: ConcurrentIndex): Promise<void> {
  const { createIndexConcurrently: name, on: table, definition, unique = false } = index;
  await sql`set lock_timeout = 0`.execute(db);
  if (await dropUnlessValid(db, index)) return;
  const rest = typeof definition === 'function' ? await definition(db) : definition;
  const kind = sql.raw(unique ? 'unique index' : 'index');
  try {
    await sql`create ${kind} concurrently ${sql.id(name)} on ${sql.id(table)} ${rest}`.execute(db);
  } catch (error) {
    // The first error says more than that of a lost session.
    await dropUnlessValid(db, index).catch(() => undefined);
    throw error;
  }
}

/** Drops the index if it is invalid. @returns whether there is a valid one */
async function dropUnlessValid(
  db: QueryExecutorProvider,
  { createIndexConcurrently: name, on: table }: ConcurrentIndex,
) {
  const { rows } = await sql<{ schema: string; isValid: boolean }>`
    select nspname as schema, indisvalid as "isValid"
    from pg_index join pg_class on pg_class.oid = indexrelid join pg_namespace on pg_namespace.oid = relnamespace
    where indrelid = to_regclass(quote_ident(${table})) and relname = ${name}`.execute(db);
  const [found] = rows;
  if (found?.isValid === false) await sql`drop index concurrently ${sql.id(found.schema, name)}`.execute(db);
  return found?.isValid ?? false;
}
