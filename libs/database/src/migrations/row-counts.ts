import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql, type QueryExecutorProvider } from 'kysely';

/** A table whose rows are counted. Its primary key is a bigint `id` that never changes. */
export interface RowCounts {
  table: string;
  /** Rows with this value in the column are counted, too, under this name. A released filter never changes. */
  filter?: { name: string; column: string; value: string };
}

/**
 * For migrations: counts the rows of a table from now on, by triggers that append changes. Makes for a table `item`:
 * - the view `item_count`: one row with the `total` and the count of the filter
 * - the function `item_id_at(target)`: the id of the row that `target` rows precede, null past the end
 * - the functions `item_count_fold`, `item_count_recount` and `item_count_check`, see `row-counts.sql`
 *
 * Counts the rows that exist, which takes a second or two for ten million. Writers wait for it; readers do not. Triggers
 * do not see rows that are loaded without them, such as by `pg_restore --disable-triggers`: `recountRows` counts those.
 *
 * Released migrations call this function, so it also brings the tables of earlier releases up to date. A further migration calls
 * `boundFolds`.
 */
export async function createRowCounts(db: QueryExecutorProvider, counts: RowCounts) {
  const { table } = counts;
  const { rows } = await sql<{ schema: string; isCounted: boolean }>`
    select current_schema() as schema,
      to_regclass(format('%I.%I', current_schema(), ${`${table}_count_change`}::text)) is not null as "isCounted"`.execute(
    db,
  );
  const { schema, isCounted } = rows[0]!;
  const named = (name: string) => sql.id(schema, name);
  // Before the tables of the counts, in the order in which readers lock them.
  await sql`lock table ${named(table)} in share row exclusive mode`.execute(db);
  await sql.raw(statementsFor('row-counts', schema, counts)).execute(db);
  if (isCounted) return;
  // The tables of releases whose triggers updated counts.
  await sql`drop table if exists ${named(`${table}_slot_count`)}, ${named(`${table}_block_count`)}`.execute(db);
  await sql`select ${named(`${table}_count_recount`)}()`.execute(db);
}

/**
 * For migrations after that with `createRowCounts`: folds take a bounded number of changes and skip none that commits late, an update
 * appends one change a block, and `truncate` locks the tables of the counts in the order of readers.
 */
export async function boundFolds(db: QueryExecutorProvider, counts: RowCounts) {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  for (const file of ['row-counts-bounded-folds', ...(counts.filter ? ['row-counts-bulk-updates'] : [])])
    await sql.raw(statementsFor(file, rows[0]!.schema, counts)).execute(db);
}

/**
 * A file for a table; it stands beside the bundle as well, is part of released migrations, and never changes. Names are qualified, so
 * that functions work with any `search_path`.
 */
function statementsFor(file: string, schema: string, { table, filter }: RowCounts) {
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
  const condition = (row = '') =>
    filter ? `(${row}${quoted(filter.column)} = '${filter.value.replaceAll("'", "''")}')` : 'false';
  return readFileSync(join(import.meta.dirname, `${file}.sql`), 'utf8')
    .replaceAll(/(trigger )?counted_table(\w*)/g, (_, trigger: string | undefined, suffix: string) =>
      trigger ? `${trigger}${quoted(table + suffix)}` : `${quoted(schema)}.${quoted(table + suffix)}`,
    )
    .replaceAll(/((?:old|new)\.)?counted_filter/g, (_, row: string | undefined) => condition(row))
    .replaceAll('counted_name', quoted(filter?.name ?? 'filtered'));
}

/** Maximum number of changes that a fold adds, as in the SQL. */
export const MAX_FOLDED_CHANGES = 5_000;

/**
 * Adds the changes of committed transactions to the totals. Counts are exact without it, and take longer to read with
 * each change.
 * @param bound maximum number of changes; the default takes some 100 ms
 * @returns the number of changes; 0 also while another session folds
 */
export async function foldRowCounts(db: QueryExecutorProvider, { table }: RowCounts, bound?: number): Promise<number> {
  const { rows } = await sql<{ folded: number }>`
    select ${sql.id(`${table}_count_fold`)}(${bound === undefined ? sql`` : sql.lit(bound)}) as folded`.execute(db);
  return rows[0]!.folded;
}

/** Number of changes that no fold has added to the counts, up to 100,000. */
export async function countOpenChanges(db: QueryExecutorProvider, { table }: RowCounts): Promise<number> {
  const { rows } = await sql<{ open: number }>`
    select count(*) as open from (select from ${sql.id(`${table}_count_change`)} limit 100000) as change`.execute(db);
  return rows[0]!.open;
}

/** The number of rows, from their counts. */
export async function countRows(db: QueryExecutorProvider, { table }: RowCounts): Promise<number> {
  const { rows } = await sql<{ total: number }>`select total from ${sql.id(`${table}_count`)}`.execute(db);
  return rows[0]!.total;
}

/** Recounts all rows in one transaction, beside readers and writers. Takes a second or two for ten million rows. */
export async function recountRows(db: QueryExecutorProvider, { table }: RowCounts): Promise<void> {
  await sql`select ${sql.id(`${table}_count_recount`)}()`.execute(db);
}

/** The counts and the rows of 2^14 ids. */
export interface RowCountCheck {
  /** The ids divided by 2^14. */
  block: number;
  counted: number;
  present: number;
  /** Whether all counts of these ids, and the totals, are right. */
  isExact: boolean;
}

/**
 * Compares counts with rows, which takes some milliseconds for a block.
 * @param after the block of an earlier check; the first block that has rows or counts is checked without it
 * @returns `undefined` when no later block has rows or counts
 */
export async function checkRowCounts(
  db: QueryExecutorProvider,
  { table }: RowCounts,
  after = BEFORE_ALL_BLOCKS,
): Promise<RowCountCheck | undefined> {
  const { rows } = await sql<RowCountCheck>`
    select block, counted, present, is_exact as "isExact"
    from ${sql.id(`${table}_count_check`)}(${after})`.execute(db);
  return rows[0];
}

const BEFORE_ALL_BLOCKS = -(2 ** 49);
