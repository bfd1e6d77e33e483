import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../connection/database.ts';
import { isLarge, shortLockTimeout, type WithId } from './row.ts';
import { LEFT_OUT, MAX_WRITES, SharedStatement } from './shared-statement.ts';

/** The row that a write changes. */
export type Target = WithId & {
  /** Version of the row: PostgreSQL's number of the transaction that has written it. A row of another version is not changed. */
  xmin?: string;
};

/** A row that a shared statement has found; it is unchanged if another session had locked it. */
export type Found = WithId & { is_changed: boolean };

/**
 * Shares statements among changes of rows. A shared statement waits for no locked row: such rows get statements of their own, so that
 * only their clients wait.
 */
export abstract class Change<Change extends Target> extends SharedStatement<Change, boolean> {
  protected readonly db: Database<unknown>;
  protected readonly table: string;
  /** Result of a further change of the same row in one statement. */
  protected abstract readonly repeated: boolean | typeof LEFT_OUT;

  constructor(db: Database<unknown>, table: string) {
    super(db, MAX_WRITES);
    this.db = db;
    this.table = table;
  }

  /** @returns whether the row exists, in the version of the change where it has one */
  apply(change: Change): Promise<boolean> {
    const isAlone = change.xmin !== undefined || isLarge(change);
    return isAlone ? this.runAlone(change) : this.share(change);
  }

  protected abstract changeOne(change: Change): Promise<boolean>;

  /** Changes the unlocked rows among many, each of which is named once. */
  protected abstract changeMany(changes: readonly Change[]): Promise<readonly Found[]>;

  protected override async runShared(changes: readonly Change[]) {
    if (changes.length === 1 && !this.db.lockWaits.isFull) return [await this.runAlone(changes[0]!)];
    // Of several entries with one id, a map keeps the last.
    const firsts = new Map(changes.toReversed().map((change) => [change.id, change]));
    const found = new Map((await this.changeMany([...firsts.values()])).map((row) => [row.id, row]));
    return changes.map((change) => {
      const row = found.get(change.id);
      if (row && !row.is_changed) return LEFT_OUT;
      return firsts.get(change.id) === change ? row !== undefined : this.repeated;
    });
  }

  protected override runAlone(change: Change, deadline?: number) {
    return this.db.lockWaits.runInTurn(() => this.changeOne(change), `${this.table} ${change.id}`, deadline);
  }
}

/**
 * A statement that changes the rows that no other session has locked. Ids are compared with arrays, which use the primary key. For a
 * join, PostgreSQL would scan a small table, and keep that plan when it has grown.
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
