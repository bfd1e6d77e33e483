import { coalesce } from '@rest-services/concurrency';
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { prepared } from '../../connection/statement.ts';
import type { AnyDatabase, WithId } from '../row.ts';
import { createReadChunk, firstOf, listOf, select, type List } from './list.ts';

/** Maximum number of rows of a list with a version: PostgreSQL reads all of them for it, 15 ms for 10,000. */
const MAX_VERSIONED_ROWS = 50_000;

/**
 * Makes a function that lists all rows that meet conditions without parameters. The version of the list comes with the first chunk, of
 * the same snapshot. Calls in one iteration of the event loop share the first chunk.
 */
export function createWholeList<Row extends WithId>(
  db: AnyDatabase,
  table: string,
  columns: readonly string[],
  conditions: readonly RawBuilder<SqlBool>[],
  longText?: string,
) {
  const versions = select(table, ['id', 'xmin'], conditions);
  const isLast = sql`id = (select max(id) from chunk)`;
  // Servers that are late by different times could show older rows in a later chunk than the version says.
  const isVersioned = db.readsAtPrimary ? sql`true` : sql`false`;
  const first = prepared(sql<Row & { list_version: string | null }>`
    with chunk as materialized (${firstOf(select(table, columns, conditions), longText)})
    select *, case when ${isVersioned} and ${isLast} and exists (select from (${versions}) as rows where rows.id > chunk.id) then case
      when not exists (select from (${versions}) as rows offset ${sql.lit(MAX_VERSIONED_ROWS)})
      then (select md5(string_agg(concat(id, ' ', xmin), ',' order by id)) from (${versions}) as rows)
    end end as list_version
    from chunk order by id`);
  const readChunk = createReadChunk<Row>(db, table, columns, conditions, longText);
  return coalesce(async (): Promise<List<Row>> => {
    const { rows } = await db.read(first, []);
    return { ...listOf<Row>(rows, readChunk), version: rows.at(-1)?.list_version ?? undefined };
  });
}
