import { PreconditionFailedError } from '@rest-services/errors';
import { sql, type RawBuilder } from 'kysely';
import type { Value } from '../connection/session.ts';
import type { Statement } from '../connection/statement.ts';
import { isWrittenAlone, shortLockTimeout, type AnyDatabase, type WithId } from './row.ts';
import { LEFT_OUT, MAX_WRITES, SharedStatement } from './shared-statement.ts';

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
  valuesOfMany: (changes: readonly Given[]) => Value[];
  /** Result of a further change of the same row in one statement. */
  repeated: boolean | typeof LEFT_OUT;
}

/**
 * Shares statements among changes of rows: updates, or deletes. A shared statement waits for no locked row: such rows get statements
 * of their own, so that only their clients wait.
 */
export class Change<Given extends Target> extends SharedStatement<Given, boolean> {
  readonly #table: string;
  readonly #statements: ChangeStatements<Given>;

  constructor(db: AnyDatabase, table: string, statements: ChangeStatements<Given>) {
    super(db, MAX_WRITES);
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

  protected override get prefersAlone() {
    return !this.db.lockWaits.isFull;
  }

  protected override async runShared(changes: readonly Given[]) {
    const { many, valuesOfMany, repeated } = this.#statements;
    // Of several entries with one id, a map keeps the last.
    const firsts = new Map(changes.toReversed().map((change) => [change.id, change]));
    const { rows } = await this.db.write(many, valuesOfMany([...firsts.values()]));
    const found = new Map(rows.map((row) => [row.id, row]));
    return changes.map((change) => {
      const row = found.get(change.id);
      if (row && !row.is_changed) return LEFT_OUT;
      return firsts.get(change.id) === change ? row !== undefined : repeated;
    });
  }

  protected override runAlone(change: Given, deadline: number) {
    const { one, valuesOf } = this.#statements;
    const changeOne = async () => (await this.db.write(one, valuesOf(change))).rowCount !== 0;
    return this.db.lockWaits.runInTurn(changeOne, `${this.#table} ${change.id}`, deadline);
  }
}

/**
 * A statement that changes the rows that no other session has locked. Ids are compared with arrays, which use the primary key. For a
 * join, PostgreSQL would scan a table of few rows, and keep that plan when it has grown.
 * @param given a query for the `id`s, and for the columns of `given` that `change` uses
 * @param change a statement that changes the rows whose ids are in `unlocked`, and returns these
 */
export const changeUnlockedRows = (
  table: string,
  given: RawBuilder<unknown>,
  change: RawBuilder<unknown>,
) => sql<Found>`
  with ${shortLockTimeout},
  given as materialized (${given}),
  unlocked as (
    select id from ${sql.table(table)} where id = any(array(select id from given, short_lock_timeout)) for update skip locked
  ),
  changed as (${change})
  select id, true as is_changed from changed
  union all
  select id, false from ${sql.table(table)} where id = any(array(select id from given except select id from changed))`;
