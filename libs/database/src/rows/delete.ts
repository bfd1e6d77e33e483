import { sql } from 'kysely';
import { idArray, parameter, prepared } from '../connection/statement.ts';
import { Change, changeUnlockedRows, type Target } from './change.ts';
import type { AnyDatabase } from './row.ts';

/** Deletes of single rows. */
export function createDelete(db: AnyDatabase, table: string): Change<Target> {
  const rows = sql.table(table);
  return new Change(db, table, {
    one: prepared(sql`delete from ${rows} where id = ${0} and coalesce(xmin = ${parameter('xid')}, true)`),
    many: prepared(
      changeUnlockedRows(
        table,
        sql`select unnest(${parameter('bigint[]')}) as id`,
        sql`delete from ${rows} where id = any(array(select id from unlocked)) returning id`,
      ),
    ),
    valuesOf: ({ id, xmin }) => [id, xmin],
    valuesOfMany: (changes) => [idArray(changes.map(({ id }) => id))],
    // One of several finds the row.
    repeated: false,
  });
}
