import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely';
import { columnList, parameter, prepared, type Statement } from '../connection/statement.ts';
import type { AnyDatabase, WithId } from './row.ts';

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

/** Continues lists in the order of the ids. */
export class Chunks<Row extends WithId> {
  readonly #db: AnyDatabase;
  readonly #next: Statement<Row>;

  /**
   * @param rowsAfter makes a query for the rows with higher ids than this one
   * @param longText a column of any length
   */
  constructor(db: AnyDatabase, rowsAfter: (id: RawBuilder<number>) => Expression<Row>, longText?: string) {
    this.#db = db;
    this.#next = prepared(firstOf(rowsAfter(parameter<number>('bigint')), longText, parameter<number>('bigint')));
  }

  /** @returns the list of up to `limit` rows whose first chunk is `rows` */
  after(rows: Row[], limit = Infinity): List<Row> {
    const missing = limit - rows.length;
    if (missing <= 0 || !mayContinue(rows)) return { rows, next: undefined };
    // Only the id, so that the rows can be freed before their reader has taken them.
    const { id } = rows.at(-1)!;
    return { rows, next: () => this.#readNext(id, missing) };
  }

  async #readNext(id: number, missing: number) {
    const { rows } = await this.#db.read(this.#next, [id, Math.min(missing, CHUNK_ROWS)]);
    return this.after(rows, missing);
  }
}

export function select<Row>(table: string, columns: readonly string[], conditions: readonly RawBuilder<SqlBool>[]) {
  const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``;
  return sql<Row>`select ${columnList(columns)} from ${sql.table(table)} ${where}`;
}

/** The first `limit` rows by id that make a chunk. */
export function firstOf<Row>(rows: Expression<Row>, longText: string | undefined, limit = sql.lit(CHUNK_ROWS)) {
  const sorted = sql<Row>`select * from (${rows}) as rows order by id limit ${limit}`;
  return longText === undefined ? sorted : withinBytes(sorted, longText);
}

/**
 * The rows of a chunk that begin within `CHUNK_BYTES` of text, each with the bytes up to its own as `text_bytes`. PostgreSQL knows the
 * lengths of long texts without reading them.
 * @param rows sorted by id
 */
export function withinBytes<Row>(rows: Expression<Row>, longText: string) {
  const bytes = sql`octet_length(${sql.ref(longText)})`;
  return sql<Row>`
    select * from (select *, sum(${bytes}) over (order by id) as text_bytes from (${rows}) as rows) as rows
    where text_bytes - ${bytes} < ${sql.lit(CHUNK_BYTES)}
    order by id`;
}

/** Whether there may be rows after those of a chunk. */
export const mayContinue = (rows: readonly (object & { text_bytes?: number })[]) =>
  rows.length === CHUNK_ROWS || (rows.at(-1)?.text_bytes ?? 0) >= CHUNK_BYTES;
