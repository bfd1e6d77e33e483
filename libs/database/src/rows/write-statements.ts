import { sql, type RawBuilder } from 'kysely';
import { SHARED_LOCK_MS } from '../time-budget.ts';
import { columnList, idArray, parameter, prepare } from './statement.ts';
import type { Database } from '../connection/database.ts';
import type { Value } from '../connection/session.ts';

/** A row of a table with an id that the database assigns. */
export type WithId = { id: number };

/** The row that a write changes. */
export type Target = WithId & {
  /** Version of the row: PostgreSQL's number of the transaction that has written it. A row of another version is not changed. */
  xmin?: string;
};

/** Values by column. */
export type Values = Record<string, Value>;

/** A row that a shared statement has found; it is unchanged if another session had locked it. */
export type Found = WithId & { is_changed: boolean };

export interface UpdateOptions<Column> {
  columns: readonly Column[];
  /** Value of a column that an update does not name. */
  absent: 'kept' | 'null';
  /** A column that is set to the current time, or kept if that is earlier. */
  touch?: string;
}

export function updateStatements<Tables>(db: Database<Tables>, table: string, options: UpdateOptions<string>) {
  const { columns, absent, touch } = options;
  const rows = sql.table(table);
  const assignments = (given: (column: string) => RawBuilder<unknown>) => {
    const set = columns.map((column) =>
      absent === 'kept'
        ? sql`${sql.ref(column)} = coalesce(${given(column)}, old.${sql.ref(column)})`
        : sql`${sql.ref(column)} = ${given(column)}`,
    );
    if (touch === undefined) return sql.join(set);
    // Not now(): the statement may have begun before other changes that it waited for.
    return sql.join([...set, sql`${sql.ref(touch)} = greatest(clock_timestamp(), old.${sql.ref(touch)})`]);
  };
  const update = sql`update ${rows} as old set ${assignments(() => sql`${null}`)} where id = ${0}`;
  const updateOne = prepare(db, update);
  const updateVersion = prepare(db, sql`${update} and xmin = ${parameter('xid')}`);
  const updateMany = prepare(
    db,
    writeUnlockedRows(
      table,
      sql`select id, ${columnList(columns)} from json_populate_recordset(null::${rows}, ${''})`,
      sql`update ${rows} as old set ${assignments((column) => sql`given.${sql.ref(column)}`)} from given
        where old.id = given.id and old.id = any(array(select id from unlocked)) returning old.id`,
    ),
  );
  return {
    one: async ({ id, xmin, ...row }: Values & Target) => {
      const values = columns.map((column) => row[column]);
      const { rowCount } = await (xmin === undefined ? updateOne(...values, id) : updateVersion(...values, id, xmin));
      return rowCount !== 0;
    },
    many: async (given: readonly (Values & WithId)[]) => (await updateMany(JSON.stringify(given))).rows,
  };
}

export function deleteStatements<Tables>(db: Database<Tables>, table: string) {
  const rows = sql.table(table);
  const deleteOne = prepare(db, sql`delete from ${rows} where id = ${0}`);
  const deleteVersion = prepare(db, sql`delete from ${rows} where id = ${0} and xmin = ${parameter('xid')}`);
  const deleteMany = prepare(
    db,
    writeUnlockedRows(
      table,
      sql`select unnest(${parameter('bigint[]')}) as id`,
      sql`delete from ${rows} where id = any(array(select id from unlocked)) returning id`,
    ),
  );
  return {
    one: async ({ id, xmin }: Target) =>
      (await (xmin === undefined ? deleteOne(id) : deleteVersion(id, xmin))).rowCount !== 0,
    many: async (given: readonly WithId[]) => (await deleteMany(idArray(given.map(({ id }) => id)))).rows,
  };
}

/**
 * A statement that changes the rows that no other session has locked. Ids are compared with arrays, which use the primary key. For a
 * join, PostgreSQL would scan a small table, and keep that plan when it has grown.
 * @param given a query for the `id`s, and for the columns of `given` that `change` uses
 * @param change a statement that changes the rows whose ids are in `unlocked`, and returns these
 */
const writeUnlockedRows = (table: string, given: RawBuilder<unknown>, change: RawBuilder<unknown>) => sql<Found>`
  with ${shortLockTimeout},
  given as materialized (${given}),
  unlocked as (
    select id from ${sql.table(table)} where id = any(array(select id from given, short_lock_timeout)) for update skip locked
  ),
  changed as (${change})
  select id, true as is_changed from changed
  union all
  select id, false from ${sql.table(table)} where id = any(array(select id from given except select id from changed))`;

/**
 * Part of a `with` clause: a statement that selects from it fails with lock_not_available after this wait, and its rows are retried
 * alone. Otherwise all of them would wait for another transaction that is about to take a unique value of one row.
 */
export const shortLockTimeout = sql`short_lock_timeout as materialized (select set_config('lock_timeout', '${sql.raw(String(SHARED_LOCK_MS))}ms', true))`;
