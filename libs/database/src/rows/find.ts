import { Semaphore } from '@rest-services/concurrency';
import { sql } from 'kysely';
import type { Database } from '../connection/database.ts';
import { readInTurn } from './read-in-turn.ts';
import type { WithId } from './row.ts';
import { LEFT_OUT, MAX_READS, SharedStatement } from './shared-statement.ts';
import { columnList, idArray, parameter, prepared, type Statement } from '../connection/statement.ts';

/** Maximum size of a text that requests read together. Longer ones would together take too much memory. */
const LONG_TEXT_BYTES = 16 * 1_024;

/** Maximum number of long texts read at once: the service encodes them more slowly than PostgreSQL delivers them. */
const LONG_TEXTS_AT_ONCE = 3;

/** Reads rows by their ids; `undefined` when there is none. */
export class Find<Row extends WithId> extends SharedStatement<number, Row | undefined> {
  readonly #db: Database<unknown>;
  readonly #longText: string | undefined;
  readonly #readWhole: Statement<Row>;
  readonly #readShort: Statement<Row>;
  readonly #longTexts = new Semaphore(LONG_TEXTS_AT_ONCE);

  constructor(db: Database<unknown>, table: string, columns: readonly string[], longText?: string) {
    super(db, MAX_READS);
    this.#db = db;
    this.#longText = longText;
    const read = (selected: unknown) =>
      prepared(sql<Row>`select ${selected} from ${sql.table(table)} where id = any(${parameter('bigint[]')})`);
    this.#readWhole = read(columnList(columns));
    this.#readShort = read(
      sql.join(columns.map((column) => (column === longText ? nullIfLong(column) : sql.ref(column)))),
    );
  }

  protected override async runShared(ids: readonly number[]) {
    const { rows } = await this.#db.read(this.#readShort, [idArray(ids)]);
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => {
      const row = found.get(id);
      const isLong = row && this.#longText !== undefined && row[this.#longText as keyof Row] === null;
      return isLong ? LEFT_OUT : row;
    });
  }

  protected override runAlone(id: number, deadline: number) {
    return readInTurn(this.#longTexts, () => this.#readLong(id), deadline);
  }

  async #readLong(id: number) {
    return (await this.#db.read(this.#readWhole, [idArray([id])])).rows[0];
  }
}

function nullIfLong(column: string) {
  const value = sql.ref(column);
  return sql`case when octet_length(${value}) <= ${sql.lit(LONG_TEXT_BYTES)} then ${value} end as ${value}`;
}
