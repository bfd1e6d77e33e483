import { PreconditionFailedError } from '@rest-services/errors';
import { sql, type RawBuilder } from 'kysely';
import type { Value } from '../../connection/session.ts';
import { columnList, idArray, parameter, prepared, type Statement } from '../../connection/statement.ts';
import { isWrittenAlone, shortLockTimeout, type AnyDatabase, type Values, type WithId } from '../row.ts';
import { LEFT_OUT, SharedStatement } from '../shared-statement.ts';

/** The row that an update or a delete changes. */
export type Target = WithId & {
  /**
   * Version of the row: PostgreSQL's number of the transaction that has written it. A row of another version is not changed; `null`
   * stands for that of a missing row.
   */
  xmin?: string | null | undefined;
};

/** A row that a shared statement has found; it is unchanged if another session had locked it. */
type Found = WithId & { is_changed: boolean };

/** Statements for one kind of change, and their values. */
interface ChangeStatements<Given extends Target> {
  /** Changes the row, in the version of the change where it has one. */
  one: Statement<unknown>;
  /** Made by `changeUnlockedRows`. */
  many: Statement<Found>;
  valuesOf: (change: Given) => Value[];
  /** @param changes of different rows */
  valueOfMany: (changes: readonly Given[]) => Value;
}

/**
 * Shares statements among changes of rows: updates, or deletes. A shared statement waits for no locked row: such rows get statements
 * of their own, so that only their clients wait.
 */
export class RowChange<Given extends Target> extends SharedStatement<Given, boolean> {
  readonly #table: string;
  readonly #statements: ChangeStatements<Given>;

  constructor(db: AnyDatabase, table: string, statements: ChangeStatements<Given>) {
    super(db, 'write');
    this.#table = table;
    this.#statements = statements;
  }

  /**
   * @returns whether the row exists
   * @throws PreconditionFailedError when the change has a version, and the row another one
   */
  async apply(change: Given): Promise<boolean> {
    if (change.xmin === null || !Number.isSafeInteger(change.id)) return false;
    if (change.xmin === undefined) return isWrittenAlone(change) ? this.alone(change) : this.share(change);
    if (!(await this.alone(change))) throw new PreconditionFailedError();
    return true;
  }

  protected override identityOf(change: Given) {
    return change.id;
  }

  protected override async runShared(changes: readonly Given[]) {
    const { many, valueOfMany } = this.#statements;
    const { rows } = await this.db.write(many, [valueOfMany(changes)]);
    const found = new Map(rows.map((row) => [row.id, row.is_changed]));
    return changes.map(({ id }) => (found.get(id) === false ? LEFT_OUT : found.has(id)));
  }

  protected override runAlone(change: Given, deadline: number) {
    const { one, valuesOf } = this.#statements;
    const changeOne = async () => (await this.db.write(one, valuesOf(change))).rowCount !== 0;
    return this.db.lockWaits.runInTurn(changeOne, `${this.#table} ${change.id}`, deadline);
  }
}

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
) {
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
  return new RowChange<Values & Target>(db, table, {
    one: prepared(sql`update ${rows} as old set ${assigned} from json_populate_record(null::${rows}, ${''}) as given
      where old.id = ${0} and coalesce(old.xmin = ${parameter('xid')}, true)`),
    many: changeUnlockedRows(
      table,
      sql`select id, ${columnList(columns)} from json_populate_recordset(null::${rows}, ${''})`,
      sql`update ${rows} as old set ${assigned} from given
        where old.id = given.id and old.id = any(array(select id from unlocked)) returning old.id`,
    ),
    valuesOf: (change) => [JSON.stringify(change), change.id, change.xmin],
    valueOfMany: JSON.stringify,
  });
}

/** Deletes of single rows. */
export function createDelete(db: AnyDatabase, table: string) {
  const rows = sql.table(table);
  return new RowChange<Target>(db, table, {
    one: prepared(sql`delete from ${rows} where id = ${0} and coalesce(xmin = ${parameter('xid')}, true)`),
    many: changeUnlockedRows(
      table,
      sql`select unnest(${parameter('bigint[]')}) as id`,
      sql`delete from ${rows} where id = any(array(select id from unlocked)) returning id`,
    ),
    valuesOf: ({ id, xmin }) => [id, xmin],
    valueOfMany: (changes) => idArray(changes.map(({ id }) => id)),
  });
}

/**
 * A statement that changes the rows that no other session has locked. Ids are compared with arrays, which use the primary key. For a
 * join, PostgreSQL would scan a table of few rows, and keep that plan when it has grown.
 * @param given a query for the `id`s, and for the columns of `given` that `change` uses
 * @param change a statement that changes the rows whose ids are in `unlocked`, and returns these
 */
function changeUnlockedRows(table: string, given: RawBuilder<unknown>, change: RawBuilder<unknown>) {
  return prepared(sql<Found>`
    with ${shortLockTimeout},
    given as materialized (${given}),
    unlocked as (
      select id from ${sql.table(table)} where id = any(array(select id from given, short_lock_timeout)) for update skip locked
    ),
    changed as (${change})
    select id, true as is_changed from changed
    union all
    select id, false from ${sql.table(table)} where id = any(array(select id from given except select id from changed))`);
}
