import { sql, type Kysely } from 'kysely';

/**
 * How many statements the sessions of `db` have ended during `work`, and a few that count them.
 * @param connections of its pool
 * @param observer the same database through a pool of its own
 */
export async function statementsDuring<Tables>(
  { db, connections, observer }: { db: Kysely<Tables>; connections: number; observer: Kysely<Tables> },
  work: () => Promise<unknown>,
) {
  const before = await commits();
  await work();
  return (await commits()) - before;

  async function commits() {
    // What a session has done becomes visible when it is asked to, or after a while.
    await Promise.all(
      Array.from({ length: connections }, () => sql`select pg_stat_force_next_flush(), pg_sleep(0.01)`.execute(db)),
    );
    const { rows } = await sql<{ count: number }>`
      select xact_commit as count from pg_stat_database where datname = current_database()`.execute(observer);
    return rows[0]!.count;
  }
}

/** How many rows of a table the only session of `db` has looked at, in the table or in one of its indexes. */
export async function rowsLookedAt<Tables>(db: Kysely<Tables>, table: string) {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ count: number }>`
    select seq_tup_read + sum(idx_tup_read)::bigint as count
    from pg_stat_user_tables join pg_stat_user_indexes using (relname)
    where relname = ${table}
    group by seq_tup_read`.execute(db);
  return rows[0]!.count;
}
