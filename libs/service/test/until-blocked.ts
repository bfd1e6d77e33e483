import { sql, type QueryExecutorProvider } from 'kysely';

/** Settles when this number of statements wait for a lock. */
export async function untilBlocked(db: QueryExecutorProvider, count = 1) {
  const blocked = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while ((await blocked.execute(db)).rows.length < count);
}
