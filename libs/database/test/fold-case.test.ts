import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql, type Kysely } from 'kysely';
import { migrate, searchIndex } from '../src/index.ts';
import { database, openPatient } from './open-database.ts';

const everyLetter = Array.from({ length: 0x11_0000 - 1 }, (_, index) => index + 1)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

/** Letters that may be folded with another one, and those that are decomposed to others, which are not. */
const isCased = (letter: string) => /[\p{Changes_When_NFKC_Casefolded}\p{Cased}\p{M}]/u.test(letter);
const cased = everyLetter.filter(isCased);

/** What a regular expression that ignores case takes for the same letter, each by the first of them. */
function sameByRegularExpression() {
  const all = cased.join('\n');
  return cased.map((letter) => all.match(new RegExp(letter, 'iu'))![0]);
}

describe.each([
  ['the builtin locale C.UTF-8', ''],
  ['the locale C', `locale 'C' locale_provider libc`],
  ['an ICU locale', `locale_provider icu icu_locale 'und' locale 'C'`],
  ['the Turkish ICU locale', `locale_provider icu icu_locale 'tr' locale 'C'`],
])('fold_case in a database with %s', (_, locale) => {
  let server: Kysely<unknown>;
  let db: Kysely<unknown>;
  const name = `folding_${randomBytes(8).toString('hex')}`;
  beforeAll(async () => {
    server = openPatient();
    await sql`create database ${sql.id(name)} template template0 ${sql.raw(locale)}`.execute(server);
    const url = Object.assign(new URL(database.url), { pathname: `/${name}` }).href;
    db = openPatient(url);
    await sql`create table book (title varchar(255))`.execute(db);
    await migrate({ url, onConnectionError: () => undefined }, { '0001_search': searchIndex('book', 'title') });
  });
  afterAll(async () => {
    await sql`drop database ${sql.id(name)} with (force)`.execute(server);
  });

  async function folded(texts: string[]) {
    const { rows } = await sql<{ text: string }>`select fold_case(text) as text
      from unnest(${texts}::text[]) with ordinality as texts (text, number) order by number`.execute(db);
    return rows.map(({ text }) => text);
  }

  test.each([
    ['alone', '', ''],
    ['at the end of a word', 'Α', ''],
    ['before an accent', '', 'a\u0307'],
  ])('has the same result for exactly the letters that Unicode folds together: %s', async (_place, before, after) => {
    const results = await folded(cased.map((letter) => before + letter + after));
    const firsts = new Map<string, string>();
    results.forEach((result, index) => firsts.has(result) || firsts.set(result, cased[index]!));
    const differing = sameByRegularExpression().flatMap((expected, index) => {
      const letter = cased[index]!;
      const actual = firsts.get(results[index]!)!;
      return actual === expected ? [] : [`${letter} is ${actual}, not ${expected}`];
    });
    expect(differing).toEqual(['İ is I, not İ']);
  });

  test('leaves all other letters as they are, and never changes the number of code points', async () => {
    const others = everyLetter.filter((letter) => !isCased(letter)).join('');
    expect((await folded([others]))[0] === others).toBe(true);
    const lengths = (await folded(cased)).map((text) => Array.from(text).length);
    expect(lengths).toEqual(cased.map(() => 1));
  });

  test('means the same without a search path, as when a dump is restored', async () => {
    await sql`create table title (title varchar(255)); insert into title values ('ΟΔΟΣ')`.execute(db);
    await sql`set search_path = ''`.execute(db);
    await sql`create index on public.title (public.fold_case(title))`.execute(db);
    const found = sql`select from public.title where public.fold_case(title) = public.fold_case('οδος')`;
    expect((await found.execute(db)).rows).toHaveLength(1);
  });
});
