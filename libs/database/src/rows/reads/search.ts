import { coalesce, Semaphore } from '@rest-services/concurrency';
import { sql } from 'kysely';
import { parameter, prepared } from '../../connection/statement.ts';
import { SHARED_MS } from '../../time-budget.ts';
import type { AnyDatabase, WithId } from '../row.ts';
import { CHUNK_ROWS, firstOf, listOf, select, type List } from './list.ts';
import { readInTurn } from './read-in-turn.ts';

/**
 * Connections of the pool per search in flight: 2 searches with the default of 10 connections. With more, searches take all connections,
 * and all CPUs, from the other requests.
 */
const CONNECTIONS_PER_SEARCH = 5;

/**
 * Makes a function that searches the rows whose column contains a text in any case of letters, by the function that `searchIndex` has
 * made. It throws an OverloadedError when a chunk takes more than 2.5 s, its wait included.
 */
export function createSearch<Row extends WithId>(
  db: AnyDatabase,
  table: string,
  columns: readonly string[],
  longText?: string,
) {
  const ids = sql`select ${sql.id(`${table}_search`)}(${parameter('text')}, ${parameter('bigint')}, ${sql.lit(CHUNK_ROWS)})`;
  // An array, because the planner would join a set of ids as if it knew their number.
  const statement = prepared(firstOf(select<Row>(table, columns, [sql`id = any(array(${ids}))`]), longText));
  const turns = new Semaphore(Math.ceil(db.poolMax / CONNECTIONS_PER_SEARCH));
  return coalesce(async (text: string): Promise<List<Row>> => {
    const pattern = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
    const readChunk = async (after: number) => {
      const read = () => db.read(statement, [pattern, after]);
      return (await readInTurn(turns, read, performance.now() + SHARED_MS)).rows;
    };
    return listOf(await readChunk(0), readChunk);
  });
}
