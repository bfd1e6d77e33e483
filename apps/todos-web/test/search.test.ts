import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { search } from '../src/data/search.ts';

/** Descriptions out of `descriptions` that a text finds. */
function found(text: string, ...descriptions: string[]) {
  const todos = descriptions.map((description, index) => ({ id: index + 1, description, isCompleted: 0 as const }));
  return search(todos, text).map(({ description }) => description);
}

const matches: [string, string, string][] = [
  ['without regard to case', 'buy MILK', 'Buy Milk'],
  ['without regard to the case of other scripts', 'ΔΡΌΜΟΣ', 'Ο δρόμος'],
  ['characters that mean something elsewhere', String.raw`^.*+?()[]{}|\$/-`, String.raw`^.*+?()[]{}|\$/-`],
  ['words in any order', 'milk buy', 'Buy oat milk'],
  ['blanks as they come', '  buy \u00a0 milk ', 'buy\tmilk'],
  ['without accents', 'creme brulee', 'Crème brûlée'],
  ['accents made of two characters', 'cre\u0300me', 'Crème brûlée'],
  ['Vietnamese without its marks', 'pho ha noi duong', 'Phở Hà Nội, đường Lê Lợi'],
  ['Polish without its strokes', 'lodz', 'Jechać do Łodzi, nie do Łódź'],
  ['a sharp s', 'STRASSE', 'Lange Straße'],
  ['the Turkish letters i', 'ISTANBUL ILIK', 'İstanbul ılık'],
  ['a Greek sigma anywhere', 'ΟΔΟΣ', 'ΣΗΜΑ ΟΔΟΣΗΜΑ'],
  ['breathings and accents of old Greek', 'αρχη', 'Ἐν ἀρχῇ'],
  ['a Russian ё', 'ежик', 'Ёжик в тумане'],
  ['Hebrew without points', 'ספר', 'לקרוא סֵפֶר'],
  ['Arabic without vowels, hamza and kashida', 'كتاب احمد', 'كِتَابُ أحمـــد'],
  ['Persian letters from an Arabic keyboard', 'كتاب ايراني', 'کتاب ایرانی'],
  ['Persian without its joiners', 'می خواهم', 'می\u200cخواهم'],
  ['a Korean syllable that is still being typed', '하', '한국어'],
  ['katakana for hiragana, and half of their width', 'ﾋﾗｶﾞﾅ', 'ひらがな'],
  ['straight quotes and hyphens', `"don't" - 3-4`, '“don’t” – 3‑4'],
  ['a part of a ligature', 'office', 'Oﬃce'],
  ['an emoji of a family', '👩', '👩‍👩‍👧 party'],
  ['without soft hyphens and joiners within words', 'coffee cups', 'cof\u00adfee cu\u2060ps'],
  ['beside marks of direction', 'abc def', '\u200fabc\u2067 def\u2069'],
];

test.each(matches)('Search finds %s', (_name, text, description) => {
  expect(found(text, 'Something else', description)).toEqual([description]);
});

test.each([
  ['Hindi vowels', 'कि', 'की'],
  ['Japanese voices', 'かき', 'かぎ'],
  ['Thai vowels', 'กิ', 'กี'],
  ['a word across two', 'theme', 'Call the men'],
])('Search tells apart %s', (_name, text, other) => {
  expect(found(text, 'Something else', other)).toEqual([]);
});

const scripts = [
  'abc XYZ ßİıſ éàüøłđ e\u0301a\u0308\u0323',
  'ΑΣΟΣ ὀδός ᾷ',
  'Ёжик й ї',
  'שָׁלוֹם־עוֹלָם',
  'كِتَابٌ ـ می‌خواهم ﷺ',
  'हिन्दी में क्षत्रिय',
  'ซื้อน้ำ ',
  'မြန်မာ ខ្មែរ',
  '한국어 각 ㄱ',
  'がぎぐ ｶﾞ カ゚ 牛奶',
  '👩‍👩‍👧 🇩🇪 ☑️ 👍🏽 𐐀𐐨',
  '.,;:!?…“”‘’«»—–-()[]{}/\\&%$€´¨½²№',
  '\u00a0\u2003\u3000\t\n\r\n\u200b\u200e\u200f\u2066\u2069\u00ad\ufeff',
].map((text) => [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].map(({ segment }) => segment));

/** A description out of any scripts, and a part of it that might have been selected. */
const copied = fc
  .array(
    fc.constantFrom(...scripts).chain((script) => fc.array(fc.constantFrom(...script), { minLength: 1, maxLength: 8 })),
    { minLength: 1, maxLength: 5 },
  )
  .map((parts) => parts.flat())
  .chain((characters) =>
    fc.tuple(fc.nat(characters.length - 1), fc.nat(characters.length)).map(([from, length]) => ({
      description: characters.join(''),
      fragment: characters.slice(from, from + 1 + length).join(''),
    })),
  )
  .filter(({ description }) => description.trim() !== '');

test('Search finds a todo by every text that was copied out of it', () => {
  fc.assert(
    fc.property(copied, ({ description, fragment }) => {
      // As fields of one line take a paste: line breaks are blanks, or gone.
      for (const text of [fragment, fragment.replaceAll(/[\r\n]/g, ' '), fragment.replaceAll(/[\r\n]/g, '')])
        expect([text, found(text, 'Before', description, 'After')]).toEqual([
          text,
          expect.arrayContaining([description]),
        ]);
    }),
    { numRuns: 2_000, seed: 36 },
  );
});
