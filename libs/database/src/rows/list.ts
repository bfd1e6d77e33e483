import { coalesce } from '@rest-services/concurrency';
import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely';
import type { Database } from '../connection/database.ts';
import { columnList, parameter, prepared, type Statement } from '../connection/statement.ts';
import type { WithId } from './row.ts';

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
  /** Changes whenever a row of the list changes; `undefined` for a list of one chunk, or of more than `MAX_VERSIONED_ROWS`. */
  version?: string | undefined;
  /** JSON of the rows, which is made once for all requests that share the list. */
  json?: string;
}

/** Continues lists in the order of the ids. */
export class Chunks<Row extends WithId> {
  readonly #db: Database<unknown>;
  readonly #next: Statement<Row>;

  /**
   * @param rowsAfter makes a query for the rows with higher ids than this one
   * @param longText a column of any length
   */
  constructor(db: Database<unknown>, rowsAfter: (id: RawBuilder<number>) => Expression<Row>, longText?: string) {
    this.#db = db;
    this.#next = prepared(
      chunk(rowsAfter(parameter<number>('bigint')), { longText, limit: parameter<number>('bigint') }),
    );
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

/** All rows that meet conditions without parameters. */
export class WholeList<Row extends WithId> {
  readonly #db: Database<unknown>;
  readonly #first: Statement<Row>;
  readonly #version: Statement<{ version: string | null }>;
  readonly #chunks: Chunks<Row>;

  constructor(
    db: Database<unknown>,
    table: string,
    { columns, longText }: { columns: readonly string[]; longText?: string | undefined },
    conditions: readonly RawBuilder<SqlBool>[],
  ) {
    this.#db = db;
    this.#first = prepared(chunk(select<Row>(table, columns, conditions), { longText }));
    this.#version = prepared(versionOf(select(table, ['id', 'xmin'], conditions)));
    this.#chunks = new Chunks(db, (id) => select(table, columns, [...conditions, sql`id > ${id}`]), longText);
  }

  /** Reads the first chunk. Calls in one iteration of the event loop share it. */
  readonly readFirst = coalesce(async () => {
    const list = this.#chunks.after((await this.#db.read(this.#first, [])).rows);
    if (!list.next) return list;
    // The rows are read after their version: it may then be older than the rows, and never newer. A standby may show what the primary
    // does not show yet, so its version could be newer than rows of the primary.
    const { version } = (await this.#db.readFromPrimary(this.#version, [])).rows[0]!;
    const { rows } = await this.#db.read(this.#first, []);
    return { ...this.#chunks.after(rows), version: version ?? undefined };
  });
}

export function select<Row>(table: string, columns: readonly string[], conditions: readonly RawBuilder<SqlBool>[]) {
  const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``;
  return sql<Row>`select ${columnList(columns)} from ${sql.table(table)} ${where}`;
}

/** Maximum number of rows of a list with a version: PostgreSQL reads all of them for it, 15 ms for 10,000. */
const MAX_VERSIONED_ROWS = 50_000;

/** A query for the version of a list, which is null for more than `MAX_VERSIONED_ROWS`. @param rows with `id` and `xmin` */
const versionOf = (rows: Expression<unknown>) => sql<{ version: string | null }>`
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
function chunk<Row>(
  rows: Expression<Row>,
  { longText, limit = sql.lit(CHUNK_ROWS) }: { longText: string | undefined; limit?: RawBuilder<number> },
) {
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
