import { sql, type Expression, type Kysely, type RawBuilder, type SelectQueryBuilder, type SqlBool } from 'kysely';
import { opaque, prepared } from './statements.ts';
import type { WithId } from './shared-statements.ts';
import { coalesced } from './batching.ts';

/** Rows that one statement of a long list reads at most. */
export const CHUNK_ROWS = 250;

/** Of rows with a text of any length, a statement reads as many as begin within so much text, and at least one. */
const CHUNK_BYTES = 128 * 1_024;

/** A list of any length, of which one chunk has been read. */
export interface LongList<Row> {
  rows: readonly Row[];
  /** Reads the next chunk, which may be empty; `undefined` when it is known that there are no more rows. */
  next: (() => Promise<LongList<Row>>) | undefined;
}

/**
 * Lists of any length, in the order of the ids. Calls in one turn share the begin of their list.
 * @param query the rows of the list
 * @param longText the column whose texts may be so long that even few rows are too many for the memory
 * @returns a function that reads the first chunk of the list, and goes on when it is asked to. No connection is held
 * between chunks, so that slow readers can't use up the pool; rows that others change meanwhile show their state at the
 * time of their own chunk.
 */
export function inChunks<DB, Table extends keyof DB, Row extends WithId>(
  db: Kysely<DB>,
  query: SelectQueryBuilder<DB, Table, Row>,
  longText?: keyof Row & string,
) {
  const first = coalesced(prepared(db, chunkQuery(query, longText).compile(db)));
  const listFrom = chunksAfter(db, query, longText);
  return async () => listFrom(await first());
}

/**
 * The same for lists whose first chunk has been read already.
 * @param query the rows of a list, without values of its own
 * @returns a function that makes a list of up to `limit` rows, those that have been read included
 */
export function chunksAfter<DB, Table extends keyof DB, Row extends WithId>(
  db: Kysely<DB>,
  query: SelectQueryBuilder<DB, Table, Row>,
  longText?: keyof Row & string,
) {
  const value = opaque<number>('bigint');
  const read = prepared(db, chunkQuery(query.where(sql<SqlBool>`id > ${value}`), longText, value).compile(db));
  return function listFrom(rows: readonly Row[], limit = Infinity): LongList<Row> {
    const missing = limit - rows.length;
    if (missing <= 0 || !mayGoOn(rows)) return { rows, next: undefined };
    // The id alone, so that the rows are not kept until their reader has taken them.
    const { id } = rows.at(-1)!;
    return { rows, next: async () => listFrom(await read(id, Math.min(missing, CHUNK_ROWS)), missing) };
  };
}

/** Whether there may be more rows than those of a chunk. */
export const mayGoOn = (chunk: readonly object[]) =>
  chunk.length === CHUNK_ROWS || ((chunk.at(-1) as Measured | undefined)?.text_bytes ?? 0) >= CHUNK_BYTES;

/** A row of a list with long texts: the length of its own, and of those before it in its chunk. */
interface Measured {
  text_bytes?: number;
}

/** At most `limit` of the rows, in the order of the ids. */
export function chunkQuery<DB, Table extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, Table, Row>,
  longText?: keyof Row & string,
  limit: RawBuilder<number> = sql.lit(CHUNK_ROWS),
) {
  const rows = query.orderBy(sql`id`).limit(limit);
  return longText === undefined ? sql<Row>`${rows}` : withinBytes(rows, longText);
}

/**
 * Those of `rows`, which are no more than a chunk has and sorted by id, that begin within `CHUNK_BYTES` of text.
 * PostgreSQL knows the lengths of long texts without reading them.
 */
export function withinBytes<Row>(rows: Expression<Row>, longText: string) {
  const bytes = sql`octet_length(${sql.ref(longText)})`;
  return sql<Row>`
    select * from (select *, sum(${bytes}) over (order by id) as text_bytes from (${rows}) as rows) as rows
    where text_bytes - ${bytes} < ${sql.lit(CHUNK_BYTES)}
    order by id`;
}
