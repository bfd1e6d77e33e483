import { sql, type SelectQueryBuilder, type SqlBool } from 'kysely';

/** Rows that one statement of a long list reads. */
export const CHUNK_ROWS = 250;

/**
 * The rows of `query` in the order of their ids, from `offset`, at most `limit`, in chunks of at most 250.
 * At least one chunk comes, if only an empty one. No connection is held between chunks, so that slow readers can't use
 * up the pool; rows that others change meanwhile show their state at the time of their own chunk.
 */
export async function* inChunks<DB, Table extends keyof DB, Row extends { id: number }>(
  query: SelectQueryBuilder<DB, Table, Row>,
  { offset, limit }: { offset: number; limit: number },
): AsyncGenerator<Row[], void, undefined> {
  const sorted = query.orderBy(sql`id`);
  let missing = limit;
  let chunk = await sorted.offset(offset).limit(Math.min(missing, CHUNK_ROWS)).execute();
  for (;;) {
    yield chunk;
    missing -= chunk.length;
    const last = chunk.at(-1);
    if (!last || chunk.length < CHUNK_ROWS || missing === 0) return;
    chunk = await sorted
      .where(sql<SqlBool>`id > ${last.id}`)
      .limit(Math.min(missing, CHUNK_ROWS))
      .execute();
    if (chunk.length === 0) return;
  }
}
