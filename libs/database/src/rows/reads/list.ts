import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely';
import { columnList, parameter, prepared } from '../../connection/statement.ts';
import type { AnyDatabase, WithId } from '../row.ts';

/** Maximum number of rows that one statement of a list reads. */
export const CHUNK_ROWS = 250;

/** Size of the text after which a chunk ends; a chunk has at least one row. */
const CHUNK_BYTES = 128 * 1_024;

/**
 * A list of any length, of which one chunk has been read. Between chunks it holds no connection, so that slow readers can't use up the
 * pool; each row is as it was at the time of its chunk.
 */
export interface List<Row> {
  rows: Row[];
  /** Reads the next chunk, which may be empty; `undefined` at the end of the list. */
  next: (() => Promise<List<Row>>) | undefined;
  /**
   * Changes whenever a row of the list changes; `undefined` for a list of one chunk, or of more than 50,000 rows, and where reads do not
   * go to the primary.
   */
  version?: string | undefined;
}

/** Reads up to `limit` of the rows with higher ids than `after`, in their order. */
export type ReadChunk<Row> = (after: number, limit: number) => Promise<Row[]>;

/** A list of up to `limit` rows, whose first chunk is `rows`. */
export function listOf<Row extends WithId>(rows: Row[], readChunk: ReadChunk<Row>, limit = Infinity): List<Row> {
  const missing = limit - rows.length;
  const last: (WithId & { text_bytes?: number }) | undefined = rows.at(-1);
  const isFull = rows.length === CHUNK_ROWS || (last?.text_bytes ?? 0) >= CHUNK_BYTES;
  if (missing <= 0 || !last || !isFull) return { rows, next: undefined };
  // Only the id, so that the rows can be freed before their reader has taken them.
  const { id } = last;
  return { rows, next: async () => listOf(await readChunk(id, Math.min(missing, CHUNK_ROWS)), readChunk, missing) };
}

/** Makes a function that reads chunks of the rows that meet conditions. @param longText a column of any length */
export function createReadChunk<Row>(
  db: AnyDatabase,
  table: string,
  columns: readonly string[],
  conditions: readonly RawBuilder<SqlBool>[] = [],
  longText?: string,
): ReadChunk<Row> {
  const following = select<Row>(table, columns, [...conditions, sql`id > ${parameter('bigint')}`]);
  const statement = prepared(firstOf(following, longText, parameter('bigint')));
  return async (after, limit) => (await db.read(statement, [after, limit])).rows;
}

export function select<Row>(table: string, columns: readonly string[], conditions: readonly RawBuilder<SqlBool>[]) {
  const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``;
  return sql<Row>`select ${columnList(columns)} from ${sql.table(table)} ${where}`;
}

/**
 * The first `limit` rows by id that make a chunk. Long texts end it after `CHUNK_BYTES`: each row has the bytes up to its own as
 * `text_bytes`. PostgreSQL knows the lengths of long texts without reading them.
 */
export function firstOf<Row>(rows: Expression<Row>, longText: string | undefined, limit = sql.lit(CHUNK_ROWS)) {
  const sorted = sql<Row>`select * from (${rows}) as rows order by id limit ${limit}`;
  if (longText === undefined) return sorted;
  const bytes = sql`octet_length(${sql.ref(longText)})`;
  return sql<Row>`
    select * from (select *, sum(${bytes}) over (order by id) as text_bytes from (${sorted}) as rows) as rows
    where text_bytes - ${bytes} < ${sql.lit(CHUNK_BYTES)}
    order by id`;
}
