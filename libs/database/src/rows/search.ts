import { coalesce, Semaphore } from '@rest-services/concurrency';
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { Value } from '../connection/session.ts';
import { parameter, prepared, type Statement } from '../connection/statement.ts';
import { errorCode, SQLSTATE } from '../sqlstate.ts';
import { SHARED_MS } from '../time-budget.ts';
import { CHUNK_ROWS, mayContinue, select, withinBytes, type List } from './list.ts';
import { readInTurn, statementLate } from './read-in-turn.ts';
import type { AnyDatabase, WithId } from './row.ts';
import { LEFT_OUT, SharedStatement } from './shared-statement.ts';

/** Maximum number of searches that share one statement: all wait for the slowest. */
const MAX_SEARCHES = 8;

/**
 * Connections of the pool per search statement in flight: 2 statements with the default of 10 connections. With more, searches take all
 * connections, and all CPUs, from the other requests.
 */
const CONNECTIONS_PER_SEARCH = 5;

/** PostgreSQL checks once in this time, by default, whether the statistics of a table are out of date. */
const STATISTICS_MS = 60_000;

/**
 * Maximum number of rows that a search scans for a chunk, which takes 25 ms. The index of trigrams finds all matches that are left, and
 * sorts them, for each chunk: with many matches, the time of the whole list would grow with their square.
 */
const SCANNED_ROWS = 64_000;

export interface SearchOptions<Column> {
  /** A column with an index of the trigrams of `fold_case(column)`. */
  column: Column;
  /** Maximum length of its texts, in code points. */
  maxLength: number;
}

/**
 * Searches the rows whose column contains a text in any case of letters, as `createCaseless` defines it. The matches of a common text
 * are found by a scan in the order of the ids, which ends with the chunk; those of a rare one by the index, in a statement that other
 * searches share.
 */
export class Search<Row extends WithId> extends SharedStatement<string, Row[]> {
  readonly #maxLength: number;
  readonly #statements: ReturnType<typeof searchStatements<Row>>;
  readonly #turns: Semaphore;
  readonly #sample: Sample;

  constructor(
    db: AnyDatabase,
    table: string,
    columns: readonly string[],
    options: SearchOptions<string> & { longText?: string | undefined },
  ) {
    super(db, MAX_SEARCHES);
    this.#maxLength = options.maxLength;
    this.#statements = searchStatements(table, columns, options);
    this.#turns = new Semaphore(Math.ceil(db.poolMax / CONNECTIONS_PER_SEARCH));
    this.#sample = new Sample(db, table, options.column);
  }

  /** @throws OverloadedError when the first chunk takes more than 2.5 s, its wait included */
  readonly readMatches = coalesce(async (text: string): Promise<List<Row>> => {
    // Caseless texts have as many code points.
    if (Array.from(text).length > this.#maxLength) return { rows: [], next: undefined };
    try {
      if (!hasTrigrams(text) || !this.#sample.isRare(text)) return await this.#readAfter(0, text);
      // A pooler forgets the timeout by which one of several searches is given up.
      const rows = this.db.supportsSessionState ? this.share(text) : this.runAlone(text);
      return this.#listOf(await rows, text);
    } catch (error) {
      throw errorCode(error) === SQLSTATE.QUERY_CANCELED ? statementLate() : error;
    }
  });

  protected override async runShared(texts: readonly string[]) {
    try {
      const found = texts.map((): Row[] => []);
      for (const row of await this.#run(this.#statements.findMany, [texts.map(patternOf)]))
        found[row.search - 1]!.push(row);
      return found;
    } catch (error) {
      // PostgreSQL does not say which of them took too long.
      if (texts.length === 1 || errorCode(error) !== SQLSTATE.QUERY_CANCELED) throw error;
      return texts.map((): typeof LEFT_OUT => LEFT_OUT);
    }
  }

  protected override runAlone(text: string, deadline?: number) {
    return this.#run(this.#statements.findByIndex, [patternOf(text), 0], deadline);
  }

  /** @param isSparse few of the rows before were matches */
  async #readAfter(id: number, text: string, isSparse = false): Promise<List<Row>> {
    const deadline = performance.now() + SHARED_MS;
    const pattern = patternOf(text);
    const canUseIndex = hasTrigrams(text);
    if (!canUseIndex || !isSparse) {
      const scanned = canUseIndex ? SCANNED_ROWS : Number.MAX_SAFE_INTEGER;
      const rows = await this.#run(this.#statements.scan, [id, scanned, pattern], deadline);
      if (!canUseIndex || mayContinue(rows)) return this.#listOf(rows, text);
    }
    return this.#listOf(await this.#run(this.#statements.findByIndex, [pattern, id], deadline), text);
  }

  async #run<Found>(statement: Statement<Found>, values: Value[], deadline = performance.now() + SHARED_MS) {
    return (await readInTurn(this.#turns, () => this.db.read(statement, values), deadline)).rows;
  }

  #listOf(rows: Row[], text: string): List<Row> {
    if (!mayContinue(rows)) return { rows, next: undefined };
    // Only the id, so that the rows can be freed before their reader has taken them.
    const { id } = rows.at(-1)!;
    const isSparse = id - rows[0]!.id > SCANNED_ROWS;
    return { rows, next: () => this.#readAfter(id, text, isSparse) };
  }
}

function searchStatements<Row>(
  table: string,
  columns: readonly string[],
  { column, longText }: SearchOptions<string> & { longText?: string | undefined },
) {
  const caseless = sql`fold_case(${sql.ref(column)})`;
  const matches = (pattern: RawBuilder<unknown>) => sql<SqlBool>`${caseless} like fold_case(${pattern})`;
  const rowsWhere = (condition: RawBuilder<SqlBool>) => select<Row>(table, columns, [condition]);
  const chunkOf = (sorted: RawBuilder<Row>) => (longText === undefined ? sorted : withinBytes(sorted, longText));
  // `id + 0`, because the planner could scan the index of `id`.
  const byIndex = (condition: RawBuilder<SqlBool>) =>
    chunkOf(sql`select * from (${rowsWhere(condition)}) as rows order by id + 0 limit ${sql.lit(CHUNK_ROWS)}`);
  const scanned = sql<Row>`
    select * from (${rowsWhere(sql`id > ${parameter('bigint')}`)}) as rows order by id limit ${parameter('bigint')}`;
  return {
    findByIndex: prepared(byIndex(sql`${matches(parameter('text'))} and id + 0 > ${parameter('bigint')}`)),
    findMany: prepared(
      sql<Row & { search: number }>`
        select found.*, searched.number as search
        from unnest(${parameter('text[]')}) with ordinality as searched (pattern, number)
        cross join lateral (${byIndex(matches(sql`searched.pattern`))}) as found
        order by search, id`,
    ),
    scan: prepared(
      chunkOf(sql<Row>`
        select * from (${scanned}) as scanned where ${caseless} like (select fold_case(${parameter('text')}))
        order by id limit ${sql.lit(CHUNK_ROWS)}`),
    ),
  };
}

/** A pattern for texts that contain this one, in which `%`, `_` and `\\` are ordinary characters. */
const patternOf = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/**
 * Whether the index of trigrams narrows the search: pg_trgm takes three letters or digits in a row, two before another character, or one
 * after it. For other texts, PostgreSQL would read the whole index, which takes longer than a scan.
 */
const hasTrigrams = (text: string) =>
  /[\p{L}\p{N}]{3}|[\p{L}\p{N}]{2}[^\p{L}\p{N}]|[^\p{L}\p{N}][\p{L}\p{N}]{1,2}/u.test(text);

/** Upper case distinguishes no letters that `fold_case` does not. Lower case would distinguish `ς` from `σ`. */
const upperCase = (text: string) => text.toLowerCase().toUpperCase();

/** The one or two hundred texts of a column in PostgreSQL's statistics, in upper case; none at first. */
class Sample {
  readonly #db: AnyDatabase;
  readonly #statement: Statement<{ texts: string }>;
  #texts = '';
  #readAt = -Infinity;

  constructor(db: AnyDatabase, table: string, column: string) {
    this.#db = db;
    this.#statement = prepared(sql`
      select concat_ws(E'\n', array_to_string(most_common_vals::text::text[], E'\n'),
        array_to_string(histogram_bounds::text::text[], E'\n')) as texts
      from pg_stats
      where schemaname = any(current_schemas(false)) and tablename = ${sql.lit(table)} and attname = ${sql.lit(column)}`);
  }

  /** Whether probably few rows contain the text. Of other texts, the first ids may have enough matches. */
  isRare(text: string) {
    const now = performance.now();
    if (now - this.#readAt > STATISTICS_MS) {
      this.#readAt = now;
      // No request waits for it; the search itself reports a failing database.
      void this.#read().catch(() => undefined);
    }
    return this.#texts !== '' && !this.#texts.includes(upperCase(text));
  }

  async #read() {
    const { rows } = await this.#db.read(this.#statement, []);
    this.#texts = upperCase(rows[0]?.texts ?? '');
  }
}
