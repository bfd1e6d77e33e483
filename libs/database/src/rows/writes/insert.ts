import { hash } from 'node:crypto';
import { errorClass, ReusedKeyError, SQLSTATE_CLASS } from '@rest-services/errors';
import { insertStatements, type Outcome } from './insert-statements.ts';
import { isWrittenAlone, type AnyDatabase, type Values } from '../row.ts';
import { LEFT_OUT, SharedStatement } from '../shared-statement.ts';

/** A key that a client sends again when it repeats a request, because it does not know the outcome. */
export interface IdempotencyKey {
  key: string;
  /** All that makes the request: another one is refused under the same key. */
  request: string;
}

/** A row to insert, once per key where it has one. */
interface Insertion {
  row: Values;
  once: IdempotencyKey | undefined;
}

/** Number of keys after which expired ones are deleted. */
const KEYS_PER_DELETION = 64;

/**
 * Inserts rows, with and without keys in one statement. A key is stored by the statement that inserts its row, so that both are
 * committed or none is; this needs the table of `createIdempotencyKeys`.
 */
export class Insert extends SharedStatement<Insertion, Outcome> {
  readonly #statements: ReturnType<typeof insertStatements>;
  #keysUntilDeletion = KEYS_PER_DELETION;

  constructor(db: AnyDatabase, table: string, columns: readonly string[]) {
    super(db, 'write');
    this.#statements = insertStatements(table, columns);
  }

  /**
   * @returns the id of the row, also when the row of the key has been deleted since
   * @throws ReusedKeyError when the key belongs to another request
   */
  async insertRow(row: Values, once: IdempotencyKey | undefined): Promise<number> {
    const insertion = { row, once };
    const { id, isSame } = await (isWrittenAlone(row) ? this.alone(insertion) : this.share(insertion));
    if (!isSame) throw new ReusedKeyError();
    return id;
  }

  protected override identityOf(insertion: Insertion) {
    return insertion.once?.key ?? insertion;
  }

  protected override runAlone(insertion: Insertion, deadline: number) {
    return this.db.lockWaits.runInTurn(() => this.insertOne(insertion), undefined, deadline);
  }

  private async insertOne({ row, once }: Insertion): Promise<Outcome> {
    try {
      if (once) return await this.insertOnce(row, once);
      return { id: (await this.db.write(this.#statements.one, [JSON.stringify(row)])).rows[0]!.id, isSame: true };
    } catch (error) {
      if (errorClass(error) !== SQLSTATE_CLASS.INTEGRITY_CONSTRAINT_VIOLATION) throw error;
      // The same request, at the same time, may have stored the key, or the unique value of the row.
      const found = once && (await this.find(once));
      if (found) return found;
      throw error;
    }
  }

  /** One row has a statement of its own: `manyOnce` takes more time of PostgreSQL for it. */
  private async insertOnce(row: Values, once: IdempotencyKey): Promise<Outcome> {
    const [key, request] = [digest(once.key), digest(once.request)];
    const [inserted] = (await this.db.write(this.#statements.oneOnce, [JSON.stringify(row), key, key, request])).rows;
    if (inserted) {
      this.countKeys(1);
      return { id: inserted.id, isSame: true };
    }
    const found = await this.find(once);
    if (found) return found;
    // The stored key has expired.
    await this.db.write(this.#statements.deleteKey, [key]);
    return this.insertOnce(row, once);
  }

  private async find(once: IdempotencyKey): Promise<Outcome | undefined> {
    return (await this.db.readFromPrimary(this.#statements.find, [digest(once.request), digest(once.key)])).rows[0];
  }

  protected override async runShared(insertions: readonly Insertion[]) {
    const { many, manyOnce } = this.#statements;
    const rows = JSON.stringify(insertions.map(({ row }) => row));
    const keys = insertions.filter(({ once }) => once !== undefined).length;
    if (keys === 0) return (await this.db.write(many, [rows])).rows.map(({ id }) => ({ id, isSame: true }));
    const digests = (field: keyof IdempotencyKey) => digestArray(insertions.map(({ once }) => once?.[field]));
    const outcomes = (await this.db.write(manyOnce, [rows, digests('key'), digests('request')])).rows;
    this.countKeys(keys);
    return outcomes.map(({ id, isSame }) => (id === null ? LEFT_OUT : { id, isSame }));
  }

  /** Expired keys are deleted after an insert, which would wait for the keys of other inserts. A later insert deletes the rest. */
  private countKeys(keys: number) {
    this.#keysUntilDeletion -= keys;
    if (this.#keysUntilDeletion > 0) return;
    this.#keysUntilDeletion = KEYS_PER_DELETION;
    void this.db.write(this.#statements.deleteExpired, []).catch(this.db.onKeysNotDeleted);
  }
}

/** A digest as PostgreSQL writes bytes, which takes the driver longer. */
const digest = (text: string) => `\\x${hash('sha256', text, 'hex')}`;

/** Digests as PostgreSQL writes an array of bytes, null for `undefined`. */
const digestArray = (texts: readonly (string | undefined)[]) =>
  `{${texts.map((text) => (text === undefined ? 'null' : `"\\${digest(text)}"`)).join()}}`;
