import { Semaphore } from '@rest-services/concurrency';
import { sql, type RawBuilder } from 'kysely';
import { columnList, idArray, parameter, prepared, type Statement } from '../../connection/statement.ts';
import { readInTurn } from './read-in-turn.ts';
import { MAX_SHARED_LENGTH, type AnyDatabase, type WithId } from '../row.ts';
import { LEFT_OUT, SharedStatement } from '../shared-statement.ts';

/** Maximum size of a text that requests read together, four bytes a character. Longer ones would together take too much memory. */
const MAX_SHARED_BYTES = 4 * MAX_SHARED_LENGTH;

/** Maximum number of texts read alone at once: the service encodes them more slowly than PostgreSQL delivers them. */
const MAX_READS_ALONE = 3;

/** Reads rows by their ids; `undefined` when there is none. */
export class Find<Row extends WithId> extends SharedStatement<number, Row | undefined> {
  readonly #longText: string | undefined;
  readonly #readOne: Statement<Row>;
  readonly #readMany: Statement<Row>;
  readonly #readsAlone = new Semaphore(MAX_READS_ALONE);

  constructor(db: AnyDatabase, table: string, columns: readonly string[], longText?: string) {
    super(db, 'read');
    this.#longText = longText;
    const read = (selected: unknown) =>
      prepared(sql<Row>`select ${selected} from ${sql.table(table)} where id = any(${parameter('bigint[]')})`);
    this.#readOne = read(columnList(columns));
    const isShort = longText && sql`octet_length(${sql.ref(longText)}) <= ${sql.lit(MAX_SHARED_BYTES)}`;
    const nullIfLong = (column: RawBuilder<unknown>) => sql`case when ${isShort} then ${column} end as ${column}`;
    const columnOf = (name: string) => (name === longText ? nullIfLong(sql.ref(name)) : sql.ref(name));
    this.#readMany = read(sql.join(columns.map(columnOf)));
  }

  protected override async runShared(ids: readonly number[]) {
    const { rows } = await this.db.read(this.#readMany, [idArray(ids)]);
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => {
      const row = found.get(id);
      const isLeftOut = row && this.#longText !== undefined && row[this.#longText as keyof Row] === null;
      return isLeftOut ? LEFT_OUT : row;
    });
  }

  protected override async runAlone(id: number, deadline: number) {
    const read = () => this.db.read(this.#readOne, [idArray([id])]);
    return (await readInTurn(this.#readsAlone, read, deadline)).rows[0];
  }
}
