import { sql } from 'kysely';
import type { Database } from '../connection/database.ts';
import { Change, changeUnlockedRows, type Target } from './change.ts';
import type { Values } from './row.ts';
import { LEFT_OUT } from './shared-statement.ts';
import { columnList, parameter, prepared } from '../connection/statement.ts';

export interface UpdateOptions<Column> {
  columns: readonly Column[];
  /** Value of a column that an update does not name. */
  absent: 'kept' | 'null';
  /** A column that is set to the current time, or kept if that is earlier. */
  touch?: string;
}

/** Updates of single rows. */
export class Update extends Change<Values & Target> {
  /** Its values may be others. */
  protected readonly repeated: typeof LEFT_OUT = LEFT_OUT;
  readonly #statements: ReturnType<typeof updateStatements>;

  constructor(db: Database<unknown>, table: string, options: UpdateOptions<string>) {
    super(db, table);
    this.#statements = updateStatements(table, options);
  }

  protected override async changeOne({ id, xmin, ...row }: Values & Target) {
    const { one, version } = this.#statements;
    const given = JSON.stringify(row);
    const { rowCount } = await (xmin === undefined
      ? this.db.write(one, [given, id])
      : this.db.write(version, [given, id, xmin]));
    return rowCount !== 0;
  }

  protected override async changeMany(changes: readonly (Values & Target)[]) {
    return (await this.db.write(this.#statements.many, [JSON.stringify(changes)])).rows;
  }
}

function updateStatements(table: string, { columns, absent, touch }: UpdateOptions<string>) {
  const rows = sql.table(table);
  const assignments = columns.map((column) =>
    absent === 'kept'
      ? sql`${sql.ref(column)} = coalesce(given.${sql.ref(column)}, old.${sql.ref(column)})`
      : sql`${sql.ref(column)} = given.${sql.ref(column)}`,
  );
  // Not now(): the statement may have begun before other changes that it waited for.
  if (touch) assignments.push(sql`${sql.ref(touch)} = greatest(clock_timestamp(), old.${sql.ref(touch)})`);
  const assigned = sql.join(assignments);
  // A parameter for each column would take an array of JSON for one of PostgreSQL.
  const update = sql`update ${rows} as old
    set ${assigned} from json_populate_record(null::${rows}, ${''}) as given where old.id = ${0}`;
  return {
    one: prepared(update),
    version: prepared(sql`${update} and old.xmin = ${parameter('xid')}`),
    many: prepared(
      changeUnlockedRows(
        table,
        sql`select id, ${columnList(columns)} from json_populate_recordset(null::${rows}, ${''})`,
        sql`update ${rows} as old set ${assigned} from given
          where old.id = given.id and old.id = any(array(select id from unlocked)) returning old.id`,
      ),
    ),
  };
}
