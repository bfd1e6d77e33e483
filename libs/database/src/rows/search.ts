import { beginBy, coalesce, Semaphore, withDeadline } from '@rest-services/concurrency';
import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely';
import type { Database } from '../connection/database.ts';
import { errorCode, SQLSTATE } from '../sqlstate.ts';
import { SHARED_MS } from '../time-budget.ts';
import { CHUNK_ROWS, mayContinue, withinBytes, type List } from './list.ts';
import { RETRY_ALONE, shareStatements, statementLate, turnMissed } from './shared-statement.ts';
import { compile, parameter, prepareRead, textArray } from './statement.ts';
import type { WithId } from './write-statements.ts';

/** Maximum number of searches that share one statement: all wait for the slowest. */
const MAX_SEARCHES = 8;

/**
 * Connections of the pool per search statement in flight: 2 statements with the default of 10 connections. Otherwise searches take all
 * connections, and all CPUs, from the other requests.
 */
const CONNECTIONS_PER_SEARCH = 5;

/** PostgreSQL checks once in this time, by default, whether the statistics of a table are out of date. */
const STATISTICS_MS = 60_000;

/** Number of rows that a search scans for its first matches. */
const FIRST_WINDOW = 2_000;

/**
 * Maximum number of rows that a search scans for a later chunk, which takes 25 ms. The index of trigrams finds all matches that are left,
 * and sorts them, for each chunk: with many matches, the time of the whole list would grow with their square.
 */
const MAX_WINDOW = 64_000;

const ALL_ROWS = Number.MAX_SAFE_INTEGER;

export interface SearchOptions<Column> {
  /** A column with an index of the trigrams of `fold_case(column)`. */
  column: Column;
  /** Maximum length of its texts, in code points. */
  maxLength: number;
}

/**
 * Searches the rows whose column contains a text in any case of letters, as `createFoldCase` defines it. Searches for rare texts share
 * statements.
 * @param select makes a query for the rows that meet a condition
 * @returns a function that throws an OverloadedError when the first chunk takes more than 2.5 s, its wait included
 */
export function createSearch<Tables, Row extends WithId>(
  db: Database<Tables>,
  table: string,
  { column, maxLength, longText }: SearchOptions<string> & { longText?: string },
  select: (condition: RawBuilder<SqlBool>) => Expression<Row>,
) {
  const folded = sql`fold_case(${sql.ref(column)})`;
  const matches = (pattern: RawBuilder<unknown>) => sql<SqlBool>`${folded} like fold_case(${pattern})`;
  const chunkOf = (sorted: RawBuilder<Row>) => (longText === undefined ? sorted : withinBytes(sorted, longText));

  // `id + 0`, because the planner could scan the index of `id`.
  const findByIndex = prepareRead(
    db,
    chunkOf(sql<Row>`
      select * from (${select(sql`${matches(parameter('text'))} and id + 0 > ${parameter('bigint')}`)}) as rows
      order by id + 0 limit ${sql.lit(CHUNK_ROWS)}`),
  );
  const matchesOfOne = sql<Row>`
    select * from (${select(matches(sql`searched.pattern`))}) as rows order by id + 0 limit ${sql.lit(CHUNK_ROWS)}`;
  const findMany = prepareRead(
    db,
    sql<Row & { search: number }>`
      select found.*, searched.number as search
      from unnest(${parameter('text[]')}) with ordinality as searched (pattern, number)
      cross join lateral (${chunkOf(matchesOfOne)}) as found
      order by search, id`,
  );
  const window = sql<Row>`
    select * from (${select(sql`id > ${parameter('bigint')}`)}) as rows order by id limit ${parameter('bigint')}`;
  const scan = prepareRead(
    db,
    chunkOf(sql<Row>`
      select * from (${window}) as scanned where ${folded} like (select fold_case(${parameter('text')}))
      order by id limit ${sql.lit(CHUNK_ROWS)}`),
  );

  const semaphore = new Semaphore(Math.ceil(db.poolMax / CONNECTIONS_PER_SEARCH));
  /** @throws OverloadedError when it has not begun by `deadline` */
  const inTurn = <Result>(run: () => Promise<Result>, deadline = Infinity) =>
    deadline === Infinity || !semaphore.isFull
      ? semaphore.run(run)
      : beginBy(
          { begin: deadline, onNotBegun: turnMissed, end: deadline, onNotEnded: statementLate },
          (work) => semaphore.run(work),
          run,
        );

  /** @param window number of rows that probably hold a chunk of matches */
  async function listAfter(id: number, text: string, window: number, deadline?: number): Promise<List<Row>> {
    const pattern = patternOf(text);
    const canUseIndex = hasTrigrams(text);
    if (canUseIndex && window > MAX_WINDOW)
      return listOf((await inTurn(() => findByIndex(pattern, id), deadline)).rows, text);
    const { rows } = await inTurn(() => scan(id, canUseIndex ? window : ALL_ROWS, pattern), deadline);
    return mayContinue(rows) || !canUseIndex ? listOf(rows, text) : listAfter(id, text, Infinity, deadline);
  }

  function listOf(rows: Row[], text: string): List<Row> {
    if (!mayContinue(rows)) return { rows, next: undefined };
    // The id alone: the rows are not kept until their reader has taken them.
    const { id } = rows.at(-1)!;
    const window = Math.max(FIRST_WINDOW, 4 * (id - rows[0]!.id));
    return { rows, next: () => listAfter(id, text, window) };
  }

  async function findRare(patterns: readonly string[]): Promise<(Row[] | typeof RETRY_ALONE)[]> {
    try {
      const found = patterns.map((): Row[] => []);
      const { rows } = await inTurn(() => findMany(textArray(patterns)), performance.now() + SHARED_MS);
      for (const row of rows) found[row.search - 1]!.push(row);
      return found;
    } catch (error) {
      // PostgreSQL does not say which of them took too long.
      if (patterns.length === 1 || errorCode(error) !== SQLSTATE.QUERY_CANCELED) throw error;
      return patterns.map(() => RETRY_ALONE);
    }
  }
  const findAlone = async (pattern: string, deadline: number) =>
    (await inTurn(() => findByIndex(pattern, 0), deadline)).rows;
  const findShared = shareStatements(db, findRare, MAX_SEARCHES, (pattern, deadline) =>
    withDeadline(deadline, findAlone(pattern, deadline), statementLate),
  );

  const sample = sampleOf(db, table, column);
  async function firstChunk(text: string) {
    const pattern = patternOf(text);
    const deadline = performance.now() + SHARED_MS;
    if (!hasTrigrams(text) || !isRare(text, sample()))
      return withDeadline(deadline, listAfter(0, text, FIRST_WINDOW, deadline), statementLate);
    return listOf(await (db.supportsSessionState ? findShared(pattern) : findAlone(pattern, deadline)), text);
  }

  return coalesce(async (searched: string): Promise<List<Row>> => {
    // Folding keeps the number of code points.
    if (Array.from(searched).length > maxLength) return { rows: [], next: undefined };
    try {
      return await firstChunk(searched);
    } catch (error) {
      throw errorCode(error) === SQLSTATE.QUERY_CANCELED ? statementLate() : error;
    }
  });
}

/** A pattern for texts that contain this one, in which `%`, `_` and `\\` are ordinary characters. */
const patternOf = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/**
 * Whether the index of trigrams narrows the search: pg_trgm takes three letters or digits in a row, two before another character, or one
 * after it. For other texts, PostgreSQL would read the whole index, which takes longer than a scan.
 */
const hasTrigrams = (text: string) =>
  /[\p{L}\p{N}]{3}|[\p{L}\p{N}]{2}[^\p{L}\p{N}]|[^\p{L}\p{N}][\p{L}\p{N}]{1,2}/u.test(text);

/** Whether probably few rows contain the text. Of other texts, the first ids may have enough matches. */
const isRare = (text: string, sample: string) => sample !== '' && !sample.includes(upperCase(text));

/** Upper case distinguishes no letters that folding does not. Lower case would distinguish `ς` from `σ`. */
const upperCase = (text: string) => text.toLowerCase().toUpperCase();

/**
 * The one or two hundred texts of a column in PostgreSQL's statistics, in upper case.
 * @returns a function that returns what is known so far, which is nothing at first, and refreshes it from time to time
 */
function sampleOf<Tables>(db: Database<Tables>, table: string, column: string) {
  const read = compile(
    db,
    sql<{ texts: string }>`
      select concat_ws(E'\n', array_to_string(most_common_vals::text::text[], E'\n'),
        array_to_string(histogram_bounds::text::text[], E'\n')) as texts
      from pg_stats
      where schemaname = any(current_schemas(false)) and tablename = ${sql.lit(table)} and attname = ${sql.lit(column)}`,
  );
  let sample = '';
  let readAt = -Infinity;
  return () => {
    const now = performance.now();
    if (now - readAt > STATISTICS_MS) {
      readAt = now;
      // No request waits for it; the search itself reports a failing database.
      read().then(
        ({ rows: [row] }) => (sample = upperCase(row?.texts ?? '')),
        () => undefined,
      );
    }
    return sample;
  };
}
