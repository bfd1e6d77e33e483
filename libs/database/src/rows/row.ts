import { sql, type QueryExecutorProvider } from 'kysely';
import type { Database } from '../connection/database.ts';
import type { Value } from '../connection/session.ts';
import { SHARED_LOCK_MS } from '../time-budget.ts';

/** What repositories need of a database, whatever its tables are. */
export type AnyDatabase = Omit<Database<unknown>, 'kysely' | 'getExecutor'> & {
  kysely: { transaction(): { execute<Result>(run: Run<Result>): Promise<Result> } };
};
type Run<Result> = (transaction: QueryExecutorProvider) => Promise<Result>;

/** A row of a table with an id that the database assigns. */
export type WithId = { id: number };

/** Values by column. */
export type Values = Record<string, Value>;

/** Maximum length of a text whose row is written with others: a shared statement would hold each longer text twice. */
export const MAX_SHARED_LENGTH = 4_096;

export const isWrittenAlone = (row: object) =>
  Object.values(row).some((value) => typeof value === 'string' && value.length > MAX_SHARED_LENGTH);

/**
 * Part of a `with` clause: a statement that selects from it fails with lock_not_available after this wait, and its rows are retried
 * alone. All of them would wait for another transaction that is about to take a unique value of one row.
 */
export const shortLockTimeout = sql`short_lock_timeout as materialized (select set_config('lock_timeout', '${sql.raw(String(SHARED_LOCK_MS))}ms', true))`;
