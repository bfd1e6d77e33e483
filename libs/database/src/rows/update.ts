import { sql } from 'kysely';
import { columnList, parameter, prepared } from '../connection/statement.ts';
import { Change, changeUnlockedRows, type Target } from './change.ts';
import type { AnyDatabase, Values } from './row.ts';
import { LEFT_OUT } from './shared-statement.ts';

export interface UpdateOptions {
  /** Value of a column that an update does not name. */
  absent: 'kept' | 'null';
  /** A column that is set to the current time, unless that is earlier. */
  touch?: string;
}

/** Updates of single rows. */
export function createUpdate(
  db: AnyDatabase,
  table: string,
  columns: readonly string[],
  { absent, touch }: UpdateOptions,
): Change<Values & Target> {
  const rows = sql.table(table);
  const assignments = columns.map((name) => {
    const column = sql.ref(name);
    return absent === 'kept'
      ? sql`${column} = coalesce(given.${column}, old.${column})`
      : sql`${column} = given.${column}`;
  });
  // Not now(): the statement may have begun before other changes that it waited for.
  if (touch) assignments.push(sql`${sql.ref(touch)} = greatest(clock_timestamp(), old.${sql.ref(touch)})`);
  const assigned = sql.join(assignments);
  return new Change<Values & Target>(db, table, {
    one: prepared(sql`
      update ${rows} as old set ${assigned} from json_populate_record(null::${rows}, ${''}) as given
      where old.id = ${0} and coalesce(old.xmin = ${parameter('xid')}, true)`),
    many: prepared(
      changeUnlockedRows(
        table,
        sql`select id, ${columnList(columns)} from json_populate_recordset(null::${rows}, ${''})`,
        sql`update ${rows} as old set ${assigned} from given
          where old.id = given.id and old.id = any(array(select id from unlocked)) returning old.id`,
      ),
    ),
    valuesOf: (change) => [JSON.stringify(change), change.id, change.xmin],
    valuesOfMany: (changes) => [JSON.stringify(changes)],
    // Its values may be others.
    repeated: LEFT_OUT,
  });
}
