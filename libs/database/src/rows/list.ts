import { sql, type Expression, type RawBuilder } from 'kysely';
import type { Database } from '../connection/database.ts';
import { parameter, prepareRead } from './statement.ts';
import type { WithId } from './write-statements.ts';

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
  /** Changes whenever a row of the list changes; `undefined` for lists of a single chunk, and for long ones. */
  version?: string | undefined;
}

/**
 * Continues lists in the order of the ids.
 * @param rowsAfter makes a query for the rows with higher ids than this one
 * @param longText a column of any length
 * @returns a function that makes a list of up to `limit` rows, those of its first chunk included
 */
export function listContinuation<Tables, Row extends WithId>(
  db: Database<Tables>,
  rowsAfter: (id: RawBuilder<number>) => Expression<Row>,
  longText?: string,
) {
  const read = prepareRead(db, chunk(rowsAfter(parameter<number>('bigint')), longText, parameter<number>('bigint')));
  return function listFrom(rows: Row[], limit = Infinity): List<Row> {
    const missing = limit - rows.length;
    if (missing <= 0 || !mayContinue(rows)) return { rows, next: undefined };
    // The id alone: the rows are not kept until their reader has taken them.
    const { id } = rows.at(-1)!;
    return { rows, next: async () => listFrom((await read(id, Math.min(missing, CHUNK_ROWS))).rows, missing) };
  };
}

/** Maximum number of rows of a list with a version: PostgreSQL reads all of them for it, 15 ms for 10,000. */
const MAX_VERSIONED_ROWS = 50_000;

/** A query for the version of a list, which is null for more than `MAX_VERSIONED_ROWS`. @param rows with `id` and `xmin` */
export const versionOf = (rows: Expression<unknown>) => sql<{ version: string | null }>`
  select case when not exists (select from (${rows}) as rows offset ${sql.lit(MAX_VERSIONED_ROWS)})
    then (select md5(string_agg(concat(id, ' ', xmin), ',' order by id)) from (${rows}) as rows)
  end as version`;

/** Whether there may be rows after those of a chunk. */
export const mayContinue = (rows: readonly (object & Measured)[]) =>
  rows.length === CHUNK_ROWS || (rows.at(-1)?.text_bytes ?? 0) >= CHUNK_BYTES;

/** A row of a list with a long text: its bytes, and those of the rows before it in its chunk. */
interface Measured {
  text_bytes?: number;
}

/** At most `limit` of the rows, in the order of the ids. */
export function chunk<Row>(rows: Expression<Row>, longText?: string, limit: RawBuilder<number> = sql.lit(CHUNK_ROWS)) {
  const sorted = sql<Row>`select * from (${rows}) as rows order by id limit ${limit}`;
  return longText === undefined ? sorted : withinBytes(sorted, longText);
}

/**
 * The rows of a chunk that begin within `CHUNK_BYTES` of text. PostgreSQL knows the lengths of long texts without reading them.
 * @param rows sorted by id
 */
export function withinBytes<Row>(rows: Expression<Row>, longText: string) {
  const bytes = sql`octet_length(${sql.ref(longText)})`;
  return sql<Row>`
    select * from (select *, sum(${bytes}) over (order by id) as text_bytes from (${rows}) as rows) as rows
    where text_bytes - ${bytes} < ${sql.lit(CHUNK_BYTES)}
    order by id`;
}
