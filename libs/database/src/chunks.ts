import { sql, type CompiledQuery, type Expression, type Kysely, type SelectQueryBuilder, type SqlBool } from 'kysely';
import { compiled } from './open-database.ts';
import type { WithId } from './shared-statements.ts';
import { oncePerTurn } from './sharing.ts';

/** Rows that one statement of a long list reads at most. */
export const CHUNK_ROWS = 250;

/** Of rows with a text of any length, a statement reads as many as begin within so much text, and at least one. */
const CHUNK_BYTES = 128 * 1_024;

/** A list of any length, of which one chunk has been read. */
export interface LongList<Row> {
  rows: readonly Row[];
  /** Reads the next chunk, which may be found to be empty, and so on; `undefined` when there is none. */
  next: (() => Promise<LongList<Row>>) | undefined;
}

/**
 * Lists of any length, in the order of the ids. Calls in one turn that ask for the same share the begin of their list.
 * @param query the rows of a list; any values in it stand for those that callers give, in the order of the text
 * @param longText the column whose texts may be so long that even few rows are too many for the memory
 * @returns a function that reads the first chunk of such a list, and goes on when it is asked to. No connection is held
 * between chunks, so that slow readers can't use up the pool; rows that others change meanwhile show their state at the
 * time of their own chunk.
 */
export function inChunks<DB, Table extends keyof DB, Row extends WithId>(
  db: Kysely<DB>,
  query: SelectQueryBuilder<DB, Table, Row>,
  longText?: keyof Row & string,
) {
  const first = compiled(db, chunkOf(db, query, longText));
  const begin = oncePerTurn((...values: unknown[]) => first(...values, CHUNK_ROWS));
  const listFrom = chunksAfter(db, query, longText);
  return async (...values: unknown[]) => listFrom(await begin(...values), Infinity, values);
}

/**
 * The same for lists whose first chunk has been read already.
 * @returns a function that makes it a list of up to `limit` rows in all
 */
export function chunksAfter<DB, Table extends keyof DB, Row extends WithId>(
  db: Kysely<DB>,
  query: SelectQueryBuilder<DB, Table, Row>,
  longText?: keyof Row & string,
) {
  const read = compiled(db, chunkOf(db, query.where(sql<SqlBool>`id > ${0}`), longText));
  return function listFrom(rows: readonly Row[], limit = Infinity, values: unknown[] = []): LongList<Row> {
    const missing = limit - rows.length;
    if (missing <= 0 || !mayGoOn(rows)) return { rows, next: undefined };
    // The id alone, so that the rows are not kept until their reader has taken them.
    const { id } = rows.at(-1)!;
    return {
      rows,
      next: async () => listFrom(await read(...values, id, Math.min(missing, CHUNK_ROWS)), missing, values),
    };
  };
}

/** Whether there may be more rows than those of a chunk. */
const mayGoOn = (chunk: readonly object[]) =>
  chunk.length === CHUNK_ROWS || ((chunk.at(-1) as Measured | undefined)?.text_bytes ?? 0) >= CHUNK_BYTES;

/** A row of a list with long texts: the length of its own, and of those before it in its chunk. */
interface Measured {
  text_bytes?: number;
}

/** A statement whose last value is how many rows it may read. */
function chunkOf<DB, Table extends keyof DB, Row>(
  db: Kysely<DB>,
  query: SelectQueryBuilder<DB, Table, Row>,
  longText?: keyof Row & string,
): CompiledQuery<Row> {
  const rows = query.orderBy(sql`id`).limit(0);
  return longText === undefined ? rows.compile() : withinBytes<Row>(rows, longText).compile(db);
}

/** Those of `rows`, which are sorted by id, that begin within `CHUNK_BYTES` of text. PostgreSQL knows lengths without reading the texts. */
function withinBytes<Row>(rows: Expression<Row>, longText: string) {
  const bytes = sql`octet_length(${sql.ref(longText)})`;
  return sql<Row>`
    select * from (select *, sum(${bytes}) over (order by id) as text_bytes from (${rows}) as rows) as rows
    where text_bytes - ${bytes} < ${sql.lit(CHUNK_BYTES)}
    order by id`;
}
