import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { settles, useService } from '../test/browser.ts';

const { page, store, service } = useService();

const rows = () => page().getByRole('listitem').allInnerTexts();
const search = () => page().getByRole('searchbox');

const matches: [string, string, string][] = [
  ['words in any order', 'milk buy', 'Buy oat milk'],
  ['blanks as they come', '  buy \u00a0 milk ', 'buy\tmilk'],
  ['the beginnings of words', 'gran cal', 'Call grandmother'],
  ['without accents', 'creme brulee', 'Crème brûlée'],
  ['accents made of two characters', 'cre\u0300me', 'Crème brûlée'],
  ['accents that the todo lacks', 'crème', 'Creme fraiche'],
  ['Vietnamese without its marks', 'pho ha noi duong', 'Phở Hà Nội, đường Lê Lợi'],
  ['Polish without its strokes', 'lodz', 'Jechać do Łodzi, nie do Łódź'],
  ['a sharp s', 'STRASSE', 'Lange Straße'],
  ['the Turkish letters i', 'ISTANBUL ILIK', 'İstanbul ılık'],
  ['a Greek sigma at the end of a word', 'δρομοσ', 'Ο δρόμος'],
  ['breathings and accents of old Greek', 'αρχη', 'Ἐν ἀρχῇ'],
  ['a Russian ё', 'ежик', 'Ёжик в тумане'],
  ['Hebrew without points', 'ספר', 'לקרוא סֵפֶר'],
  ['Arabic without vowels, hamza and kashida', 'كتاب احمد', 'كِتَابُ أحمـــد'],
  ['Persian letters from an Arabic keyboard', 'كتاب ايراني', 'کتاب ایرانی'],
  ['Persian without its joiners', 'می خواهم', 'می\u200cخواهم'],
  ['a Korean syllable that is still being typed', '하', '한국어'],
  ['katakana for hiragana, and half of their width', 'ﾋﾗｶﾞﾅ', 'ひらがな'],
  ['letters of full width', 'TODO 12', 'ＴＯＤＯ　１２'],
  ['straight quotes and hyphens', `"don't" - 3-4`, '“don’t” – 3‑4'],
  ['three dots', 'wait...', 'Wait…'],
  ['a part of a ligature', 'office', 'Oﬃce'],
  ['an emoji of a family', '👩', '👩‍👩‍👧 party'],
  ['beside marks of direction', 'abc def', '\u200fabc\u2067 def\u2069'],
  ['beside soft hyphens', 'Dampfschiff', 'Dampf\u00adschiff'],
];

test.each(matches)('Search finds %s', async (_name, text, found) => {
  await store('Something else', found);
  await page().goto(`/todos?q=${encodeURIComponent(text)}`);
  await settles(() => page().locator('.todos li').count(), 1);
  expect(await page().locator('.todos a').first().textContent()).toBe(found);
});

test.each([
  ['Hindi vowels', 'कि', 'की'],
  ['Japanese voices', 'かき', 'かぎ'],
  ['Thai vowels', 'กิ', 'กี'],
  ['a word across two', 'theme', 'Call the men'],
])('Search tells apart %s', async (_name, text, other) => {
  await store('Something else', other);
  await page().goto(`/todos?q=${encodeURIComponent(text)}`);
  await page().getByText('No todo contains').waitFor();
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
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((parts) => parts.flat())
  .chain((characters) =>
    fc.tuple(fc.nat(characters.length - 1), fc.nat(characters.length)).map(([from, length]) => ({
      description: characters.join(''),
      fragment: characters.slice(from, from + 1 + length).join(''),
    })),
  )
  .filter(({ description }) => description.trim() !== '');

test('Search finds a todo by every text that was copied out of it', async () => {
  const samples = fc.sample(copied, { numRuns: 150, seed: 36 });
  await store(...samples.map(({ description }) => `.${description}`));
  // High enough for all rows to be in the document.
  await page().setViewportSize({ width: 600, height: 150 * 64 });
  await page().goto('/todos');
  await settles(() => page().locator('.todos li').count(), samples.length);
  for (const [index, { description, fragment }] of samples.entries()) {
    // As fields of one line take a paste: line breaks are blanks, or gone.
    for (const text of [fragment, fragment.replaceAll(/[\r\n]/g, ' ')]) {
      await search().fill(text);
      await page().evaluate(() => new Promise((drawn) => requestAnimationFrame(drawn)));
      const isFound = await page()
        .locator(`[data-item="${index + 1}"]`)
        .isVisible();
      expect([description, text, isFound]).toEqual([description, text, true]);
    }
  }
});

test('Search finds a todo by what was selected on its page, copied and pasted', async () => {
  const description = 'Buy  milk,\n\tbread\u00a0and “Käse”;\nthen rest 👩‍👩‍👧';
  await store('Something else', description);
  for (const [from, to] of [
    [0, 40],
    [2, 9],
    [5, 20],
    [9, 13],
    [10, 33],
    [20, 36],
  ] as const) {
    await page().goto('/todos/2');
    const heading = page().getByRole('heading', { level: 1 });
    await settles(() => heading.textContent(), description);
    await heading.evaluate(
      (element, [from, to]) => {
        const text = element.firstChild!;
        getSelection()!.setBaseAndExtent(text, from!, text, to!);
      },
      [from, to],
    );
    await page().keyboard.press('ControlOrMeta+C');
    await page().goto('/todos');
    await search().click();
    await page().keyboard.press('ControlOrMeta+V');
    await settles(() => page().locator('.todos li').count(), 1);
    await settles(async () => (await rows())[0]!.startsWith('Buy'), true);
  }
});

test('Search lists 10,000 todos and their matches by every word', async () => {
  await service()
    .db.insertInto('todo')
    .values(Array.from({ length: 10_000 }, (_, n) => ({ description: `Übung Nummer ${n}`, isCompleted: 0 as const })))
    .execute();
  await page().goto('/todos');
  await search().fill('u');
  await page().getByText('10,000 todos are listed').waitFor({ state: 'attached' });
  await search().fill('nummer ubung 777');
  await page().getByText('19 todos are listed').waitFor({ state: 'attached' });
});
