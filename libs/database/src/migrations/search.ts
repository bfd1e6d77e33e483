import { sql, type QueryExecutorProvider } from 'kysely';
import type { ConcurrentIndex } from './concurrent-index.ts';
import { CASELESS, LETTERS } from './letters.ts';

/**
 * A migration by which a repository searches a column of texts: an index of the trigrams of `fold_case(column)`, and the function
 * `TABLE_search(pattern, after, maximum)`, which returns ids in their order. Needs the extension pg_trgm, or the right to create it.
 */
export const searchIndex = (table: string, column: string): ConcurrentIndex => ({
  createIndexConcurrently: `${table}_search`,
  on: table,
  async definition(db) {
    await sql`create extension if not exists pg_trgm`.execute(db);
    await createFoldCase(db);
    // PL/pgSQL plans the statement for the values of each call: the index finds rare texts, the primary key common ones. Ids, because the
    // columns of the table may change.
    await sql`
      create or replace function ${sql.id(`${table}_search`)}(pattern text, after bigint, maximum bigint)
      returns setof bigint language plpgsql stable as $function$ begin
        return query execute $query$
          select id from ${sql.id(table)}
          where fold_case(${sql.id(column)}) like fold_case($1) and id > $2 order by id limit $3
        $query$ using pattern, after, maximum;
      end $function$`.execute(db);
    return sql`using gin (fold_case(${sql.id(column)}) ${sql.id(await trigramSchema(db), 'gin_trgm_ops')})`;
  },
});

/** The schema of pg_trgm, which the search path need not name, such as `extensions`. */
async function trigramSchema(db: QueryExecutorProvider) {
  const { rows } = await sql<{ schema: string }>`
    select nspname as schema from pg_extension join pg_namespace on pg_namespace.oid = extnamespace
    where extname = 'pg_trgm'`.execute(db);
  return rows[0]!.schema;
}

/**
 * Creates the SQL function `fold_case(text)`, whose results are equal for texts that differ only in the case of letters, in any locale of
 * the database. Letters are compared by Unicode's simple case folding, and `İ` counts as `i`. The function keeps the number of code points.
 */
export async function createFoldCase(db: QueryExecutorProvider) {
  // The letters that `lower()` of this database leaves as they are: about 50, and all in the locale C. They follow another letter
  // because `lower()` of ICU makes a `Σ` at the end of a word a `ς`.
  const { rows } = await sql<{ letters: string; caseless: string }>`
    select string_agg(letter, '' order by letter) as letters, string_agg(caseless, '' order by letter) as caseless
    from unnest(${Array.from(LETTERS)}::text[], ${Array.from(CASELESS)}::text[]) as pairs (letter, caseless)
    where lower('a' || letter) <> lower('a' || caseless)`.execute(db);
  const { letters, caseless } = rows[0]!;
  await sql`
    create or replace function fold_case(text) returns text language sql immutable parallel safe
    return case
      when length($1) = octet_length($1) then lower($1 collate "C")
      when $1 ~ ${sql.lit(`[${letters}]`)} then lower(translate($1, ${sql.lit(letters)}, ${sql.lit(caseless)}))
      else lower($1)
    end`.execute(db);
}
