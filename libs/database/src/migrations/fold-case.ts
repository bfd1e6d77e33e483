import { sql, type QueryExecutorProvider } from 'kysely';

/**
 * For migrations: creates the SQL function `fold_case(text)`, whose results are equal for texts that differ only in the case of
 * letters, in any locale of the database. Letters are compared as a JavaScript regular expression with the flags `iu` does it, which
 * is Unicode's simple case folding, and `İ` counts as `i`. The function keeps the number of code points.
 */
export async function createFoldCase(db: QueryExecutorProvider) {
  const pairs = foldedLetters();
  // The letters that `lower()` of this database does not fold: about 50, and all in the locale C. They follow another letter
  // because `lower()` of ICU makes a `Σ` at the end of a word a `ς`.
  const { rows } = await sql<{ letters: string; folded: string }>`
    select string_agg(letter, '' order by letter) as letters, string_agg(folded, '' order by letter) as folded
    from unnest(${pairs.map(([letter]) => letter)}::text[], ${pairs.map(([, folded]) => folded)}::text[]) as pairs (letter, folded)
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

/** No letter beyond this code point has case. */
const LAST_CASED = 0x1_ffff;

/** Letters whose folding does not follow from their upper and lower case. */
const OTHERS: [letter: string, folded: string][] = [
  ['İ', 'i'],
  ['\u1fd3', '\u0390'],
  ['\u1fe3', '\u03b0'],
  ['\ufb05', '\ufb06'],
];

function foldedLetters() {
  const pairs = [...OTHERS];
  for (let code = 0; code <= LAST_CASED; code += 1) {
    const letter = String.fromCodePoint(code);
    const folded = [letter.toUpperCase().toLowerCase(), letter.toLowerCase()].find(
      (other) => other !== letter && new RegExp(`^${letter}$`, 'iu').test(other),
    );
    if (folded !== undefined) pairs.push([letter, folded]);
  }
  return pairs;
}
