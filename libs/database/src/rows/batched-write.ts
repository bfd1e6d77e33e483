import type { Database } from '../connection/database.ts';
import { limitConcurrencyPerRow, MAX_WRITES, RETRY_ALONE, shareStatements } from './shared-statement.ts';
import type { Found, Target } from './write-statements.ts';

/** Length of a text from which its row is written alone: a shared statement would hold each such text twice. */
const LARGE_TEXT_LENGTH = 4_096;

export const isLarge = (row: object) =>
  Object.values(row).some((value) => typeof value === 'string' && value.length > LARGE_TEXT_LENGTH);

/**
 * Shares statements among changes of rows. A shared statement waits for no locked row: such rows get statements of their own, so that
 * only their clients wait.
 * @param statements changes one row and says whether it exists in the version of the change, or changes the unlocked rows among many
 * @param repeated result of a further change of the same row in the same statement
 * @returns a function that says whether the row exists
 */
export function batchedWrite<Change extends Target>(
  db: Database<unknown>,
  statements: {
    one: (change: Change) => Promise<boolean>;
    many: (changes: readonly Change[]) => Promise<readonly Found[]>;
  },
  repeated: false | typeof RETRY_ALONE,
) {
  const { lockWaits } = db;
  const changeAlone = limitConcurrencyPerRow(statements.one, lockWaits);
  async function changeMany(changes: readonly Change[]) {
    if (changes.length === 1 && !lockWaits.isFull) return [await changeAlone(changes[0]!)];
    // Of several entries with one id, a map keeps the last.
    const firsts = new Map(changes.toReversed().map((change) => [change.id, change]));
    const found = new Map((await statements.many([...firsts.values()])).map((row) => [row.id, row]));
    return changes.map((change) => {
      const row = found.get(change.id);
      if (row && !row.is_changed) return RETRY_ALONE;
      return firsts.get(change.id) === change ? row !== undefined : repeated;
    });
  }
  const changeShared = shareStatements<Change, boolean>(db, changeMany, MAX_WRITES, changeAlone);
  return (change: Change) =>
    isLarge(change) || change.xmin !== undefined ? changeAlone(change) : changeShared(change);
}
