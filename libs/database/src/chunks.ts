import { sql, type Kysely, type SelectQueryBuilder, type SqlBool } from 'kysely';
import { compiled } from './open-database.ts';
import type { WithId } from './shared-statements.ts';
import { oncePerTurn } from './sharing.ts';

/** Rows that one statement of a long list reads. */
export const CHUNK_ROWS = 250;

type Chunks<Row> = AsyncGenerator<readonly Row[], void, undefined>;

/**
 * Lists of any length, in the order of the ids. Calls in one turn that ask for the same share the begin of their list.
 * @param query the rows of a list; any values in it stand for those that callers give, in the order of the text
 * @returns a function that reads such a list in chunks of at most 250 rows, of which at least one comes, if only an
 * empty one. No connection is held between chunks, so that slow readers can't use up the pool; rows that others change
 * meanwhile show their state at the time of their own chunk.
 */
export function inChunks<DB, Table extends keyof DB, Row extends WithId>(
  db: Kysely<DB>,
  query: SelectQueryBuilder<DB, Table, Row>,
) {
  const first = compiled(db, chunkOf(query).compile());
  const begin = oncePerTurn((...values: unknown[]) => first(...values, CHUNK_ROWS));
  const goOn = chunksAfter(db, query);
  return async function* (...values: unknown[]): Chunks<Row> {
    yield* goOn(await begin(...values), Infinity, values);
  };
}

/**
 * The same for lists whose first chunk, of 250 rows if there are as many, has been read already.
 * @returns a function that reads on after the rows of that chunk, which it gives as well, up to `limit` rows in all
 */
export function chunksAfter<DB, Table extends keyof DB, Row extends WithId>(
  db: Kysely<DB>,
  query: SelectQueryBuilder<DB, Table, Row>,
) {
  const next = compiled(db, chunkOf(query.where(sql<SqlBool>`id > ${0}`)).compile());
  return async function* (first: readonly Row[], limit = Infinity, values: unknown[] = []): Chunks<Row> {
    let rows = first;
    let missing = limit;
    for (;;) {
      yield rows;
      missing -= rows.length;
      const last = rows.at(-1);
      if (!last || rows.length < CHUNK_ROWS || missing === 0) return;
      rows = await next(...values, last.id, Math.min(missing, CHUNK_ROWS));
      if (rows.length === 0) return;
    }
  };
}

const chunkOf = <DB, Table extends keyof DB, Row>(query: SelectQueryBuilder<DB, Table, Row>) =>
  query.orderBy(sql`id`).limit(0);
