import { coalesce } from '@rest-services/concurrency';
import { sql } from 'kysely';
import { columnList, parameter, prepared, type Statement } from '../connection/statement.ts';
import { CHUNK_ROWS, Chunks, select, type List } from './list.ts';
import type { AnyDatabase, WithId } from './row.ts';

export interface Position {
  offset: number;
  limit: number;
}

/** A page of a table, and the number of all rows, both of one snapshot. */
export interface Page<Row> extends List<Row> {
  total: number;
}

interface Total {
  total_count: number;
}

/** Pages of a table for which `createRowCounts` has been called, at the same cost for any depth. */
export class Pages<Row extends WithId> {
  readonly #db: AnyDatabase;
  readonly #first: Statement<Row & Total>;
  /** An empty page is one row of nulls with the total. */
  readonly #deep: Statement<(Row | { id: null }) & Total>;
  readonly #chunks: Chunks<Row>;

  constructor(db: AnyDatabase, table: string, columns: readonly string[]) {
    this.#db = db;
    const total = sql`(select total from ${sql.id(`${table}_count`)}) as total_count`;
    const inOrder = sql`order by id limit ${parameter('bigint')}`;
    this.#first = prepared(sql`select ${columnList(columns)}, ${total} from ${sql.table(table)} ${inOrder}`);
    // The function stands in a sub-select: the planner would call it, too, to estimate.
    this.#deep = prepared(sql`
      select page.*, ${total}
      from (values (true)) as always left join lateral (
        select ${columnList(columns)} from ${sql.table(table)}
        where id >= (select ${sql.id(`${table}_id_at`)}(${0}))
        ${inOrder}
      ) as page on true
      order by page.id`);
    this.#chunks = new Chunks(db, (id) => select(table, columns, [sql`id > ${id}`]));
  }

  /** Reads the first chunk of a page, and the number of all rows. Calls in one iteration of the event loop share it. */
  readonly readPage = coalesce(async ({ offset, limit }: Position): Promise<Page<Row>> => {
    const maximum = Math.min(limit, CHUNK_ROWS);
    const { rows } = await (offset === 0
      ? this.#db.read(this.#first, [maximum])
      : this.#db.read(this.#deep, [offset, maximum]));
    const present = rows.filter((row): row is Row & Total => row.id !== null);
    return { total: rows[0]?.total_count ?? 0, ...this.#chunks.after(present, limit) };
  });
}
