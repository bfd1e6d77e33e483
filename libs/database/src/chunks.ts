import { sql, type SelectQueryBuilder, type SqlBool } from 'kysely';
import { oncePerTurn } from './shared-statements.ts';

/** Rows that one statement of a long list reads. */
export const CHUNK_ROWS = 250;

type Chunks<Row> = AsyncGenerator<readonly Row[], void, undefined>;

/**
 * Lists of any length, in the order of the ids.
 * @param queryOf the rows of a list, by what callers ask for; calls in one turn that ask for the same share its begin
 * @returns a function that reads such a list in chunks of at most 250 rows, of which at least one comes, if only an
 * empty one. No connection is held between chunks, so that slow readers can't use up the pool; rows that others change
 * meanwhile show their state at the time of their own chunk.
 */
export function inChunks<Asked extends unknown[], DB, Table extends keyof DB, Row extends { id: number }>(
  queryOf: (...asked: Asked) => SelectQueryBuilder<DB, Table, Row>,
) {
  const begin = oncePerTurn(async (...asked: Asked) => {
    const query = queryOf(...asked);
    return { query, first: await chunk(query, CHUNK_ROWS) };
  });
  return async function* (...asked: Asked): Chunks<Row> {
    const { query, first } = await begin(...asked);
    yield* chunksFrom(first, query);
  };
}

/** The same for a list whose `first` chunk, of 250 rows if there are as many, has been read already. */
export async function* chunksFrom<DB, Table extends keyof DB, Row extends { id: number }>(
  first: readonly Row[],
  query: SelectQueryBuilder<DB, Table, Row>,
  limit = Infinity,
): Chunks<Row> {
  let rows = first;
  let missing = limit;
  for (;;) {
    yield rows;
    missing -= rows.length;
    const last = rows.at(-1);
    if (!last || rows.length < CHUNK_ROWS || missing === 0) return;
    rows = await chunk(query.where(sql<SqlBool>`id > ${last.id}`), Math.min(missing, CHUNK_ROWS));
    if (rows.length === 0) return;
  }
}

const chunk = <DB, Table extends keyof DB, Row>(query: SelectQueryBuilder<DB, Table, Row>, rows: number) =>
  query
    .orderBy(sql`id`)
    .limit(rows)
    .execute();
