import { coalesce } from '@rest-services/concurrency';
import { sql } from 'kysely';
import type { Database } from '../connection/database.ts';
import { columnList, parameter, prepareRead } from './statement.ts';
import type { WithId } from './write-statements.ts';

export interface Position {
  offset: number;
  limit: number;
}

interface Total {
  total_count: number;
}

/**
 * Pages of a table for which `createRowCounts` has been called, at the same cost for any depth.
 * @returns a function that reads at most `limit` rows, all into memory, and the number of all rows, from one snapshot
 */
export function createPages(
  db: Database<unknown>,
  table: string,
  columns: readonly string[],
): (position: Position) => Promise<{ total: number; rows: WithId[] }> {
  const total = sql`(select total from ${sql.id(`${table}_count`)}) as total_count`;
  const inOrder = sql`order by id limit ${parameter('bigint')}`;
  const first = prepareRead(
    db,
    sql<WithId & Total>`select ${columnList(columns)}, ${total} from ${sql.table(table)} ${inOrder}`,
  );
  // An empty page is one row of nulls with the total. The function stands in a sub-select: the planner would call it, too, to estimate.
  const deep = prepareRead(
    db,
    sql<(WithId | { id: null }) & Total>`
      select page.*, ${total}
      from (values (true)) as always left join lateral (
        select ${columnList(columns)} from ${sql.table(table)}
        where id >= (select ${sql.id(`${table}_id_at`)}(${0}))
        ${inOrder}
      ) as page on true
      order by page.id`,
  );
  return coalesce(async ({ offset, limit }) => {
    const { rows } = await (offset === 0 ? first(limit) : deep(offset, limit));
    return { total: rows[0]?.total_count ?? 0, rows: rows.filter((row): row is WithId & Total => row.id !== null) };
  });
}
