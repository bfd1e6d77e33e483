import { sql, type QueryExecutorProvider } from 'kysely';
import { FOLDED, LETTERS } from './case-folding.ts';

/**
 * For migrations: creates the SQL function `fold_case(text)`, whose results are equal for texts that differ only in the case of
 * letters, in any locale of the database. Letters are compared by Unicode's
 * simple case folding, and `İ` counts as `i`. The function keeps the number of code points.
 */
export async function createFoldCase(db: QueryExecutorProvider) {
  // The letters that `lower()` of this database does not fold: about 50, and all in the locale C. They follow another letter
  // because `lower()` of ICU makes a `Σ` at the end of a word a `ς`.
  const { rows } = await sql<{ letters: string; folded: string }>`
    select string_agg(letter, '' order by letter) as letters, string_agg(folded, '' order by letter) as folded
    from unnest(${Array.from(LETTERS)}::text[], ${Array.from(FOLDED)}::text[]) as pairs (letter, folded)
    where lower('a' || letter) <> lower('a' || folded)`.execute(db);
  const { letters, folded } = rows[0]!;
  await sql`
    create or replace function fold_case(text) returns text language sql immutable parallel safe
    return case
      when length($1) = octet_length($1) then lower($1 collate "C")
      when $1 ~ ${sql.lit(`[${letters}]`)} then lower(translate($1, ${sql.lit(letters)}, ${sql.lit(folded)}))
      else lower($1)
    end`.execute(db);
}
