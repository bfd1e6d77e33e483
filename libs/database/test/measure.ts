import { jest } from '@jest/globals';
import { sql, type QueryExecutorProvider } from 'kysely';
import pg from 'pg';

/** How many statements are sent during `work`. */
export async function statementsDuring(work: () => Promise<unknown>) {
  const query = jest.spyOn(pg.Client.prototype, 'query');
  try {
    await work();
    return query.mock.calls.length;
  } finally {
    query.mockRestore();
  }
}

/** Has the only session of `db` flush its counts of read rows to the server's statistics now. */
export const reportStatistics = (db: QueryExecutorProvider) => sql`select pg_stat_force_next_flush()`.execute(db);

/**
 * Number of rows of a table that the only session of `db` has read, in the table or in one of its indexes, and other
 * sessions as far as they have reported it.
 */
export async function rowsLookedAt(db: QueryExecutorProvider, table: string) {
  await reportStatistics(db);
  const { rows } = await sql<{ count: number }>`
    select seq_tup_read + sum(idx_tup_read)::bigint as count
    from pg_stat_user_tables join pg_stat_user_indexes using (relname)
    where relname = ${table}
    group by seq_tup_read`.execute(db);
  return rows[0]!.count;
}
