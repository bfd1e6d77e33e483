import { sql } from 'kysely';
import type { Database } from '../connection/database.ts';
import { Change, changeUnlockedRows, type Target } from './change.ts';
import { idArray, parameter, prepared } from '../connection/statement.ts';

/** Deletes of single rows. */
export class Delete extends Change<Target> {
  /** One of several finds the row. */
  protected readonly repeated = false;
  readonly #statements: ReturnType<typeof deleteStatements>;

  constructor(db: Database<unknown>, table: string) {
    super(db, table);
    this.#statements = deleteStatements(table);
  }

  protected override async changeOne({ id, xmin }: Target) {
    const { one, version } = this.#statements;
    const { rowCount } = await (xmin === undefined ? this.db.write(one, [id]) : this.db.write(version, [id, xmin]));
    return rowCount !== 0;
  }

  protected override async changeMany(rows: readonly Target[]) {
    return (await this.db.write(this.#statements.many, [idArray(rows.map(({ id }) => id))])).rows;
  }
}

function deleteStatements(table: string) {
  const one = sql`delete from ${sql.table(table)} where id = ${0}`;
  return {
    one: prepared(one),
    version: prepared(sql`${one} and xmin = ${parameter('xid')}`),
    many: prepared(
      changeUnlockedRows(
        table,
        sql`select unnest(${parameter('bigint[]')}) as id`,
        sql`delete from ${sql.table(table)} where id = any(array(select id from unlocked)) returning id`,
      ),
    ),
  };
}
