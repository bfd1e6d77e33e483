import { sql, type QueryExecutorProvider } from 'kysely';
import { CASELESS, LETTERS } from './caseless-letters.ts';

/**
 * For migrations: creates the SQL function `fold_case(text)`, whose results are equal for texts that differ only in the case of
 * letters, in any locale of the database. Letters are compared by Unicode's simple case folding, and `İ` counts as `i`. The function keeps the number of code points.
 */
export async function createCaseless(db: QueryExecutorProvider) {
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
