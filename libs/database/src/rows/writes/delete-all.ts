import { errorCode, OverloadedError, SQLSTATE } from '@rest-services/errors';
import { sql, type QueryExecutorProvider } from 'kysely';
import { prepared } from '../../connection/statement.ts';
import { RESPONSE_MS } from '../../time-budget.ts';
import type { AnyDatabase } from '../row.ts';

/** Time that truncating needs, its wait for a lock included. */
const TRUNCATE_MS = 1_000;

/** Another session, such as a backup, reads the table; or the role may only delete rows. */
const NOT_TO_BE_TRUNCATED: string[] = [SQLSTATE.LOCK_NOT_AVAILABLE, SQLSTATE.INSUFFICIENT_PRIVILEGE];

/**
 * Makes a function that deletes all rows of a table. It takes part in the waits for locks: several deletions would take the connections of
 * all requests.
 */
export function createDeleteAll(db: AnyDatabase, tableName: string): () => Promise<number> {
  const table = sql.table(tableName);
  const deleteEach = prepared(sql`delete from ${table}`);

  /** Blocks other sessions while it counts the rows, 60 ms for a million, and empties the table in a moment. `delete` takes seconds. */
  async function truncate(transaction: QueryExecutorProvider) {
    // Readers of the table wait too while this session waits for the lock.
    await sql`set local lock_timeout = '200ms'`.execute(transaction);
    // Takes the lock that `truncate` needs. Otherwise two sessions could each hold a weaker lock and wait for this one: a deadlock.
    await sql`lock table ${table} in access exclusive mode`.execute(transaction);
    // Scans the table, because here, unlike in all other statements of requests, the index takes three times as long.
    await sql`set local enable_seqscan = on`.execute(transaction);
    const { rows } = await sql<{ count: number }>`select count(*) from ${table}`.execute(transaction);
    await sql`truncate ${table}`.execute(transaction);
    return rows[0]!.count;
  }

  /**
   * Ends autovacuum of the table, which takes long after a load of many rows: PostgreSQL cancels it for a session that has waited for a
   * second, on a busy machine a little later. A session that waits for this lock blocks neither readers nor writers.
   */
  async function endAutovacuum(transaction: QueryExecutorProvider) {
    await sql`set local lock_timeout = '1300ms'`.execute(transaction);
    await sql`lock table ${table} in share update exclusive mode`.execute(transaction);
  }

  /** @throws OverloadedError when the table can't be truncated and too little time remains to delete the rows one by one */
  async function deleteRows(deadline: number) {
    const refuseWithin = (ms: number) => {
      if (performance.now() > deadline - ms) throw new OverloadedError('lock');
    };
    try {
      await db.kysely.transaction().execute(endAutovacuum);
      refuseWithin(TRUNCATE_MS);
      return await db.kysely.transaction().execute(truncate);
    } catch (error) {
      if (!NOT_TO_BE_TRUNCATED.includes(errorCode(error))) throw error;
      refuseWithin(RESPONSE_MS);
      return (await db.write(deleteEach, [])).rowCount!;
    }
  }

  return () => db.lockWaits.runInTurn(deleteRows, tableName);
}
