import { coalesce } from '@rest-services/concurrency';
import { sql } from 'kysely';
import { columnList, parameter, prepared } from '../../connection/statement.ts';
import type { AnyDatabase, WithId } from '../row.ts';
import { CHUNK_ROWS, createReadChunk, listOf, type List } from './list.ts';

export type Position = { offset: number; limit: number };

/** A page of a table, and the number of all rows, both of one snapshot. */
export interface Page<Row> extends List<Row> {
  total: number;
}

type Total = { total_count: number };

/**
 * Makes a function that reads pages of a table for which `createRowCounts` has been called, at the same cost for any depth. Calls in one
 * iteration of the event loop share the first chunk of a page.
 */
export function createPages<Row extends WithId>(db: AnyDatabase, table: string, columns: readonly string[]) {
  const total = sql`(select total from ${sql.id(`${table}_count`)}) as total_count`;
  const inOrder = sql`order by id limit ${parameter('bigint')}`;
  const first = prepared(sql<Row & Total>`select ${columnList(columns)}, ${total} from ${sql.table(table)} ${inOrder}`);
  // The function stands in a sub-select: the planner would call it, too, to estimate. An empty page is one row of nulls with the total.
  const deep = prepared(sql<(Row | { id: null }) & Total>`
    select page.*, ${total}
    from (values (true)) as always left join lateral (
      select ${columnList(columns)} from ${sql.table(table)}
      where id >= (select ${sql.id(`${table}_id_at`)}(${0}))
      ${inOrder}
    ) as page on true
    order by page.id`);
  const readChunk = createReadChunk<Row>(db, table, columns);
  return coalesce(async ({ offset, limit }: Position): Promise<Page<Row>> => {
    const maximum = Math.min(limit, CHUNK_ROWS);
    const { rows } = await (offset === 0 ? db.read(first, [maximum]) : db.read(deep, [offset, maximum]));
    const present = rows.filter((row): row is Row & Total => row.id !== null);
    return { total: rows[0]?.total_count ?? 0, ...listOf<Row>(present, readChunk, limit) };
  });
}
