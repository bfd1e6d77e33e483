import { coalesce, Semaphore } from '@rest-services/concurrency';
import { sql } from 'kysely';
import { parameter, prepared, type Statement } from '../connection/statement.ts';
import { SHARED_MS } from '../time-budget.ts';
import { CHUNK_ROWS, firstOf, mayContinue, select, type List } from './list.ts';
import { readInTurn } from './read-in-turn.ts';
import type { AnyDatabase, WithId } from './row.ts';

/**
 * Connections of the pool per search in flight: 2 searches with the default of 10 connections. With more, searches take all connections,
 * and all CPUs, from the other requests.
 */
const CONNECTIONS_PER_SEARCH = 5;

export interface SearchOptions {
  /** Maximum length of the texts of the column that `searchIndex` names, in code points. */
  maxLength: number;
}

/** Searches the rows whose column contains a text in any case of letters, by the function that `searchIndex` has made. */
export class Search<Row extends WithId> {
  readonly #db: AnyDatabase;
  readonly #maxLength: number;
  readonly #statement: Statement<Row>;
  readonly #turns: Semaphore;

  constructor(
    db: AnyDatabase,
    table: string,
    columns: readonly string[],
    { maxLength, longText }: SearchOptions & { longText?: string | undefined },
  ) {
    this.#db = db;
    this.#maxLength = maxLength;
    this.#turns = new Semaphore(Math.ceil(db.poolMax / CONNECTIONS_PER_SEARCH));
    const ids = sql`select ${sql.id(`${table}_search`)}(${parameter('text')}, ${parameter('bigint')}, ${sql.lit(CHUNK_ROWS)})`;
    // An array, because the planner would join a set of ids as if it knew their number.
    this.#statement = prepared(firstOf(select<Row>(table, columns, [sql`id = any(array(${ids}))`]), longText));
  }

  /** @throws OverloadedError when the first chunk takes more than 2.5 s, its wait included */
  readonly readMatches = coalesce((text: string): Promise<List<Row>> => {
    // Texts keep their number of code points without case.
    if (Array.from(text).length > this.#maxLength) return Promise.resolve({ rows: [], next: undefined });
    return this.#readAfter(0, `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`);
  });

  async #readAfter(id: number, pattern: string): Promise<List<Row>> {
    const read = () => this.#db.read(this.#statement, [pattern, id]);
    const { rows } = await readInTurn(this.#turns, read, performance.now() + SHARED_MS);
    if (!mayContinue(rows)) return { rows, next: undefined };
    // Only the id, so that the rows can be freed before their reader has taken them.
    const last = rows.at(-1)!.id;
    return { rows, next: () => this.#readAfter(last, pattern) };
  }
}
