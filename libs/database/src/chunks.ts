import { sql, type Kysely, type SelectQueryBuilder, type SqlBool } from 'kysely';
import { compiled } from './open-database.ts';
import type { WithId } from './shared-statements.ts';
import { oncePerTurn } from './sharing.ts';

/** Rows that one statement of a long list reads. */
export const CHUNK_ROWS = 250;

/** A list of any length. */
export interface LongList<Row> {
  first: readonly Row[];
  /** What comes after the first 250 rows, in chunks of at most as many. */
  rest: AsyncGenerator<readonly Row[], void, undefined>;
}

/**
 * Lists of any length, in the order of the ids. Calls in one turn that ask for the same share the begin of their list.
 * @param query the rows of a list; any values in it stand for those that callers give, in the order of the text
 * @returns a function that reads the first 250 rows of such a list, and goes on when it is asked to. No connection is held
 * between chunks, so that slow readers can't use up the pool; rows that others change meanwhile show their state at the
 * time of their own chunk.
 */
export function inChunks<DB, Table extends keyof DB, Row extends WithId>(
  db: Kysely<DB>,
  query: SelectQueryBuilder<DB, Table, Row>,
) {
  const first = compiled(db, chunkOf(query).compile());
  const begin = oncePerTurn((...values: unknown[]) => first(...values, CHUNK_ROWS));
  const goOn = chunksAfter(db, query);
  return async (...values: unknown[]) => goOn(await begin(...values), Infinity, values);
}

/**
 * The same for lists whose first 250 rows, or all if there are fewer, have been read already.
 * @returns a function that makes them a list of up to `limit` rows in all
 */
export function chunksAfter<DB, Table extends keyof DB, Row extends WithId>(
  db: Kysely<DB>,
  query: SelectQueryBuilder<DB, Table, Row>,
) {
  const next = compiled(db, chunkOf(query.where(sql<SqlBool>`id > ${0}`)).compile());
  async function* after(rows: readonly Row[], missing: number, values: unknown[]) {
    while (rows.length === CHUNK_ROWS && missing > 0) {
      rows = await next(...values, rows.at(-1)!.id, Math.min(missing, CHUNK_ROWS));
      missing -= rows.length;
      if (rows.length > 0) yield rows;
    }
  }
  return (first: readonly Row[], limit = Infinity, values: unknown[] = []): LongList<Row> => ({
    first,
    rest: after(first, limit - first.length, values),
  });
}

const chunkOf = <DB, Table extends keyof DB, Row>(query: SelectQueryBuilder<DB, Table, Row>) =>
  query.orderBy(sql`id`).limit(0);
