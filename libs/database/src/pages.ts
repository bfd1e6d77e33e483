import { sql, type Kysely, type SelectType } from 'kysely';
import { opaque, prepared } from './statements.ts';
import { list, type WithId } from './shared-statements.ts';
import { coalesced } from './batching.ts';

/** Where a page begins, and how many rows it has. */
interface Position {
  offset: number;
  limit: number;
}

/**
 * Pages of a table for which `createRowCounts` has been called, in the order of the ids. Each costs about the same at any
 * depth; it is held in memory, so keep `limit` small, and choose `inChunks` for rows with texts of any length. Calls in
 * one turn for the same page share a statement.
 * @returns a function that reads the rows of a page and the number of all rows, both from one snapshot
 */
export function pagesOf<Tables, Table extends keyof Tables & string, Column extends keyof Tables[Table] & string>(
  db: Kysely<Tables>,
  table: Table,
  columns: readonly Column[],
) {
  type Row = { [Name in Column]: SelectType<Tables[Table][Name]> } & WithId;
  const total = sql`(select total from ${sql.id(`${table}_count`)}) as total_count`;
  const inOrder = sql`order by id limit ${opaque('bigint')}`;
  const first = prepared(
    db,
    sql<Row & Total>`select ${list(columns)}, ${total} from ${sql.table(table)} ${inOrder}`.compile(db),
  );
  // An empty page is one row of nulls with the total. The function is in a sub-select because the planner would call it
  // too, to estimate.
  const deep = prepared(
    db,
    sql<(Row | { id: null }) & Total>`
      select page.*, ${total}
      from (values (true)) as always left join lateral (
        select ${list(columns)} from ${sql.table(table)}
        where id >= (select ${sql.id(`${table}_id_at`)}(${0}))
        ${inOrder}
      ) as page on true
      order by page.id`.compile(db),
  );
  return coalesced(async ({ offset, limit }: Position): Promise<{ total: number; rows: Row[] }> => {
    const rows = await (offset === 0 ? first(limit) : deep(offset, limit));
    return { total: rows[0]?.total_count ?? 0, rows: rows.filter((row): row is Row & Total => row.id !== null) };
  });
}

interface Total {
  total_count: number;
}
