import { coalesce } from '@rest-services/concurrency';
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { prepared, type Statement } from '../connection/statement.ts';
import { Chunks, firstOf, select, type List } from './list.ts';
import type { AnyDatabase, WithId } from './row.ts';

/** Maximum number of rows of a list with a version: PostgreSQL reads all of them for it, 15 ms for 10,000. */
const MAX_VERSIONED_ROWS = 50_000;

/** All rows that meet conditions without parameters. */
export class WholeList<Row extends WithId> {
  readonly #db: AnyDatabase;
  readonly #first: Statement<Row & { list_version: string | null }>;
  readonly #chunks: Chunks<Row>;

  constructor(
    db: AnyDatabase,
    table: string,
    columns: readonly string[],
    conditions: readonly RawBuilder<SqlBool>[],
    longText?: string,
  ) {
    this.#db = db;
    const versions = select(table, ['id', 'xmin'], conditions);
    // Servers that are late by different times could show older rows in a later chunk than the version says.
    const isVersioned = db.readsAtPrimary ? sql`true` : sql`false`;
    const isLast = sql`id = (select max(id) from chunk)`;
    this.#first = prepared(sql`
      with chunk as materialized (${firstOf(select(table, columns, conditions), longText)})
      select *, case when ${isVersioned} and ${isLast} and exists (select from (${versions}) as rows where rows.id > chunk.id) then case
        when not exists (select from (${versions}) as rows offset ${sql.lit(MAX_VERSIONED_ROWS)})
        then (select md5(string_agg(concat(id, ' ', xmin), ',' order by id)) from (${versions}) as rows)
      end end as list_version
      from chunk order by id`);
    this.#chunks = new Chunks(db, (id) => select(table, columns, [...conditions, sql`id > ${id}`]), longText);
  }

  /** Reads the first chunk, and the version of the list in the same snapshot. Calls in one iteration of the event loop share it. */
  readonly readFirst = coalesce(async (): Promise<List<Row>> => {
    const { rows } = await this.#db.read(this.#first, []);
    return { ...this.#chunks.after(rows), version: rows.at(-1)?.list_version ?? undefined };
  });
}
