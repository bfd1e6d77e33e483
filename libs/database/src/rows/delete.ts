import { sql } from 'kysely';
import type { Database } from '../connection/database.ts';
import { idArray, parameter, prepared } from '../connection/statement.ts';
import { Change, changeUnlockedRows, type Target } from './change.ts';

/** Deletes of single rows. */
export function createDelete(db: Database<unknown>, table: string): Change<Target> {
  const one = sql`delete from ${sql.table(table)} where id = ${0}`;
  return new Change(db, table, {
    one: prepared(one),
    version: prepared(sql`${one} and xmin = ${parameter('xid')}`),
    many: prepared(
      changeUnlockedRows(
        table,
        sql`select unnest(${parameter('bigint[]')}) as id`,
        sql`delete from ${sql.table(table)} where id = any(array(select id from unlocked)) returning id`,
      ),
    ),
    valuesOf: ({ id }) => [id],
    valuesOfMany: (rows) => [idArray(rows.map(({ id }) => id))],
    // One of several finds the row.
    repeated: false,
  });
}
