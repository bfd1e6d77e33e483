import { overloaded } from '@rest-services/errors';
import { sql, type Kysely, type RawBuilder, type SelectQueryBuilder, type SqlBool } from 'kysely';
import { CHUNK_ROWS, chunkQuery, mayGoOn, withinBytes, type LongList } from './chunks.ts';
import { codeOf, STATEMENT_TIMED_OUT } from './connection.ts';
import { connectionsOf, isDirect } from './open-database.ts';
import { places } from './places.ts';
import { compiled, opaque, prepared } from './statements.ts';
import type { WithId } from './shared-statements.ts';
import { batching, coalesced, LIMIT_MS, RUN_ALONE, withDeadline } from './batching.ts';

/** Searches that share one statement at most: the others wait for the one that takes longest. */
const MAX_SEARCHES = 8;

/**
 * Connections of the pool for each statement of a search in flight, at least one: 2 statements with the usual 10 connections.
 * Otherwise searches take all connections, and all CPUs, from the other requests.
 */
const CONNECTIONS_PER_SEARCH = 5;

/** So often PostgreSQL looks, unless it is told otherwise, whether a table has changed so much that its sample is out of date. */
const SAMPLED_EVERY_MS = 60_000;

/** Rows among which a search looks for its first matches, one after the other. */
const FIRST_WINDOW = 2_000;

/**
 * The same for later ones, at the most, which takes some 25 ms. Whoever looks for all matches in the index of trigrams instead has
 * to sort those that are left for each chunk: where there are as many, the whole list would take a time that grows with their
 * square.
 */
const MAX_WINDOW = 64_000;

interface SearchOptions<Column> {
  table: string;
  /** Has an index of the trigrams of `fold_case(column)`. */
  column: Column;
  /** Maximum length of its texts, in code points. */
  maxLength: number;
  /** A column whose texts may be of any length. */
  longText: Column;
}

/**
 * Lists of the rows in which a text contains another one, in any case of letters, as `createFoldCase` has it.
 * @param query the rows to be searched, without values of its own
 * @returns a function that reads the first chunk of such a list, as `inChunks` does. Searches for rare texts that come together
 * share a statement. It throws an HttpError 503 when the first chunk takes more than 2.5 s with its wait for other searches, or a
 * statement of it takes too long.
 */
export function containing<DB, Table extends keyof DB, Row extends WithId>(
  db: Kysely<DB>,
  query: SelectQueryBuilder<DB, Table, Row>,
  { table, column, maxLength, longText }: SearchOptions<keyof Row & string>,
) {
  const text = sql.ref(column);
  const folded = sql`fold_case(${text})`;
  const matching = (pattern: RawBuilder<unknown>) => query.where(sql<SqlBool>`${folded} like fold_case(${pattern})`);

  // The second condition holds for every row, but the planner takes it for one that few rows fulfil, and so uses the index
  // of trigrams. Without it, the planner estimates from a sample of a hundred texts: one of these that matches stands for a
  // hundredth of the table, and it would walk through all rows in the order of their ids to find so many.
  const planned = matching(sql`${''}`).where(sql<SqlBool>`length(${text}) between 0 and 1000000000`);
  const find = compiled(db, chunkQuery(planned.where(sql<SqlBool>`id > ${0}`), longText).compile(db));

  const window = query
    .where(sql<SqlBool>`id > ${opaque('bigint')}`)
    .orderBy(sql`id`)
    .limit(opaque<number>('bigint'));
  const walked = sql<Row>`
    select * from (${window}) as walked where ${folded} like (select fold_case(${null}::text)) order by id limit ${sql.lit(CHUNK_ROWS)}`;
  const walk = prepared(db, withinBytes(walked, longText).compile(db));

  const searches = places(Math.ceil(connectionsOf(db)!.pool.options.max / CONNECTIONS_PER_SEARCH));
  /** @throws HttpError 503 when it has to wait for other searches, and has not ended by `deadline` */
  async function inTurn<Result>(run: () => Promise<Result>, deadline = Infinity) {
    if (!searches.isFull()) return searches.use(run);
    const turn = searches.use(async () => {
      if (performance.now() > deadline) throw overloaded();
      return run();
    });
    return deadline === Infinity ? turn : withDeadline(deadline, turn, overloaded);
  }

  /** @param window rows among which a chunk of matches is to be expected */
  async function listAfter(id: number, pattern: string, window: number, deadline?: number): Promise<LongList<Row>> {
    if (window <= MAX_WINDOW) {
      const near = await inTurn(() => walk(id, window, pattern), deadline);
      if (mayGoOn(near)) return listOf(near, pattern);
    }
    return listOf(await inTurn(() => find(pattern, id), deadline), pattern);
  }

  function listOf(rows: readonly Row[], pattern: string): LongList<Row> {
    if (!mayGoOn(rows)) return { rows, next: undefined };
    // The id alone, so that the rows are not kept until their reader has taken them.
    const { id } = rows.at(-1)!;
    const window = Math.max(FIRST_WINDOW, 4 * (id - rows[0]!.id));
    return { rows, next: () => listAfter(id, pattern, window) };
  }

  // Its rows are not sorted by the id itself, the index of which would be walked through instead.
  const rowsOfOne = matching(sql`asked.pattern`)
    .orderBy(sql`id + 0`)
    .limit(sql.lit(CHUNK_ROWS));
  const readMany = prepared(
    db,
    sql<Row & { search: number }>`
      select found.*, asked.number as search
      from unnest(${opaque('text[]')}) with ordinality as asked (pattern, number)
      cross join lateral (${withinBytes(rowsOfOne, longText)}) as found
      order by search, id`.compile(db),
  );
  async function findMany(patterns: readonly string[]): Promise<(readonly Row[] | typeof RUN_ALONE)[]> {
    try {
      const found = patterns.map((): Row[] => []);
      const rows = await inTurn(() => readMany(arrayOfTexts(patterns)), performance.now() + LIMIT_MS);
      for (const row of rows) found[row.search - 1]!.push(row);
      return found;
    } catch (error) {
      // PostgreSQL does not say which of them took too long.
      if (patterns.length === 1 || codeOf(error) !== STATEMENT_TIMED_OUT) throw error;
      return patterns.map(() => RUN_ALONE);
    }
  }
  const findAlone = (pattern: string, deadline: number) => inTurn(() => find(pattern, 0), deadline);
  const shared = batching(findMany, MAX_SEARCHES, (pattern, deadline) =>
    withDeadline(deadline, findAlone(pattern, deadline), overloaded),
  );

  const sample = sampleOf(db, table, column);
  async function firstOf(searched: string) {
    const pattern = patternOf(searched);
    const deadline = performance.now() + LIMIT_MS;
    if (!isRare(searched, sample()))
      return withDeadline(deadline, listAfter(0, pattern, FIRST_WINDOW, deadline), overloaded);
    return listOf(await (isDirect(db) ? shared(pattern) : findAlone(pattern, deadline)), pattern);
  }

  return coalesced(async (searched: string): Promise<LongList<Row>> => {
    // Folding keeps the number of code points.
    if (Array.from(searched).length > maxLength) return { rows: [], next: undefined };
    try {
      return await firstOf(searched);
    } catch (error) {
      throw codeOf(error) === STATEMENT_TIMED_OUT ? overloaded() : error;
    }
  });
}

/** A pattern for texts that contain this one, in which `%`, `_` and `\` are ordinary characters. */
const patternOf = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/**
 * Whether so few rows contain a text that the index of trigrams, for which three letters or digits in a row are the
 * least, is the best way to find them. Of others, the first ids may have enough.
 */
const isRare = (text: string, sample: string) =>
  /[a-z\d]{3}/i.test(text) && sample !== '' && !sample.includes(capitals(text));

/** Upper case tells no letters apart that folding takes for the same. Lower case would tell `ς` from `σ`. */
const capitals = (text: string) => text.toLowerCase().toUpperCase();

/**
 * The hundred or two texts of a column from which PostgreSQL's planner would guess as well, in capitals.
 * @returns a function that answers what is known so far, which is nothing at first, and refreshes it from time to time
 */
function sampleOf<DB>(db: Kysely<DB>, table: string, column: string) {
  const read = compiled(
    db,
    sql<{ texts: string }>`
      select concat_ws(E'\n', array_to_string(most_common_vals::text::text[], E'\n'),
        array_to_string(histogram_bounds::text::text[], E'\n')) as texts
      from pg_stats
      where schemaname = any(current_schemas(false)) and tablename = ${sql.lit(table)} and attname = ${sql.lit(column)}`.compile(
      db,
    ),
  );
  let sample = '';
  let readAt = -Infinity;
  return () => {
    const now = performance.now();
    if (now - readAt > SAMPLED_EVERY_MS) {
      readAt = now;
      // Nobody waits for it, and the search that comes with it reports what is wrong with the database.
      read().then(
        ([row]) => (sample = capitals(row?.texts ?? '')),
        () => undefined,
      );
    }
    return sample;
  };
}

/** Texts as PostgreSQL writes an array. */
const arrayOfTexts = (texts: readonly string[]) =>
  `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join()}}`;
