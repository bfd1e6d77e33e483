import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql, type QueryExecutorProvider } from 'kysely';
import pg from 'pg';

/** A table whose rows are counted. Its primary key is a bigint `id` that never changes: `generated always as identity`. */
export interface RowCounts {
  table: string;
  /** Rows with this value in the column are counted, too, under this name. A released filter never changes. */
  filter?: { name: string; column: string; value: string };
}

/**
 * For migrations: counts the rows of a table from now on, by triggers that append changes. Makes for a table `item`:
 * - the view `item_count`: one row with the `total` and the count of the filter
 * - the function `item_id_at(target)`: the id of the row that `target` rows precede, null past the end
 * - the functions `item_count_fold` and `item_count_recount`, see `row-counts.sql`
 *
 * Counts the rows that exist, which takes a second or two for ten million. Writers wait for it; readers do not. Triggers
 * do not see rows that are loaded without them, such as by `pg_restore --disable-triggers`: `recountRows` counts those.
 */
export async function createRowCounts(db: QueryExecutorProvider, { table, filter }: RowCounts) {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const quoted = pg.escapeIdentifier;
  const condition = filter ? `(${quoted(filter.column)} = ${pg.escapeLiteral(filter.value)})` : 'false';
  // It stands beside the bundle as well. Names are qualified, so that functions work with any `search_path`.
  const statements = readFileSync(join(import.meta.dirname, 'row-counts.sql'), 'utf8')
    .replaceAll(
      /counted_table\w*/g,
      (name) => `${quoted(rows[0]!.schema)}.${quoted(name.replace('counted_table', table))}`,
    )
    .replaceAll('counted_filter', () => condition)
    .replaceAll('counted_name', () => quoted(filter?.name ?? 'filtered'));
  await sql.raw(statements).execute(db);
  if (!filter) await sql`drop trigger count_update on ${sql.id(rows[0]!.schema, table)}`.execute(db);
}

/** Maximum number of changes that a fold adds, as in the SQL. */
export const MAX_FOLDED_CHANGES = 5_000;

/**
 * Adds the changes of committed transactions to the totals. Counts are exact without it, and take longer to read with
 * each change.
 * @param bound maximum number of changes; the default takes some 100 ms
 * @returns the number of changes; 0 also while another session folds
 */
export async function foldRowCounts(
  db: QueryExecutorProvider,
  { table }: RowCounts,
  bound = MAX_FOLDED_CHANGES,
): Promise<number> {
  const { rows } = await sql<{ folded: number }>`
    select ${sql.id(`${table}_count_fold`)}(${bound}) as folded`.execute(db);
  return rows[0]!.folded;
}

/** The number of rows, and of changes that no fold has added to the counts, up to 100,000. */
export async function measureRowCounts(db: QueryExecutorProvider, { table }: RowCounts) {
  const { rows } = await sql<{ total: number; openChanges: number }>`
    select total, (
      select count(*) from (select from ${sql.id(`${table}_count_change`)} limit 100000) as change
    ) as "openChanges"
    from ${sql.id(`${table}_count`)}`.execute(db);
  return rows[0]!;
}

/** Recounts all rows in one transaction, beside readers and writers. Takes a second or two for ten million rows. */
export async function recountRows(db: QueryExecutorProvider, { table }: RowCounts): Promise<void> {
  await sql`select ${sql.id(`${table}_count_recount`)}()`.execute(db);
}
