import { Semaphore } from '@rest-services/concurrency';
import { sql } from 'kysely';
import type { Database } from '../connection/database.ts';
import { MAX_READS, readInTurn, RETRY_ALONE, shareStatements } from './shared-statement.ts';
import { columnList, idArray, parameter, prepareRead } from './statement.ts';
import type { WithId } from './write-statements.ts';

/** Maximum size of a text that requests read together. Longer ones would together take too much memory. */
const LONG_TEXT_BYTES = 16 * 1_024;

/** Maximum number of long texts read at once: the service encodes them more slowly than PostgreSQL delivers them. */
const LONG_TEXTS_AT_ONCE = 3;

/** @returns a function that reads the row of an id, or `undefined` when there is none */
export function createFind<Row extends WithId>(
  db: Database<unknown>,
  table: string,
  columns: readonly string[],
  longText?: string,
) {
  const select = (selected: unknown) =>
    prepareRead(db, sql<Row>`select ${selected} from ${sql.table(table)} where id = any(${parameter('bigint[]')})`);
  const readWhole = select(columnList(columns));
  const readShort = longText === undefined ? readWhole : select(sql.join(columns.map(nullIfLong)));
  const longTexts = new Semaphore(LONG_TEXTS_AT_ONCE);

  async function readMany(ids: readonly number[]) {
    const { rows } = await readShort(idArray(ids));
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => {
      const row = found.get(id);
      const isLong = row && longText !== undefined && row[longText as keyof Row] === null;
      return isLong ? RETRY_ALONE : row;
    });
  }
  const readLong = async (id: number) => (await readWhole(idArray([id]))).rows[0];
  return shareStatements<number, Row | undefined>(db, readMany, MAX_READS, (id, deadline) =>
    readInTurn(
      deadline,
      (work) => longTexts.run(work),
      () => readLong(id),
    ),
  );

  function nullIfLong(column: string) {
    const value = sql.ref(column);
    if (column !== longText) return value;
    return sql`case when octet_length(${value}) <= ${sql.lit(LONG_TEXT_BYTES)} then ${value} end as ${value}`;
  }
}
