import type { Todo } from './api.ts';

/** Characters that need more than lower case. */
const NOT_ASCII = /[^ -~\s\0]/;

/** Marks that writers of Latin, Greek, Cyrillic, Hebrew and Arabic leave out, and invisible characters. Other scripts' marks are sounds. */
const UNSEEN = /[[[\p{M}--[\u3099\u309a]]&&[\p{sc=Zinh}\p{sc=Arab}\p{sc=Cyrl}\p{sc=Hebr}]]\u0640\u06e5\u06e6\p{DI}]/gv;

/** What stands for what, where Unicode takes it for another character: quotes first, because a decomposed `´` is a blank. */
const ALIKE: [RegExp, string | ((letter: string) => string)][] = [
  [/[\u2018-\u201b\u2032\u00b4]/g, "'"],
  [/[\u201c-\u201f\u2033\u00ab\u00bb]/g, '"'],
  [/[\p{Pd}\u2212]/gu, '-'],
];
const ALIKE_LETTERS: typeof ALIKE = [
  [/\u03c2/g, '\u03c3'],
  [/[\u0649\u06cc]/g, '\u064a'],
  [/\u06a9/g, '\u0643'],
  [/[\u0111\u00f0]/g, 'd'],
  [/\u00f8/g, 'o'],
  [/\u0142/g, 'l'],
  [/\u00e6/g, 'ae'],
  [/\u0153/g, 'oe'],
  // A voiced か is another letter; what it becomes must not begin with か.
  [/[\u3040-\u30ff][\u3099\u309a]/g, (letters) => letters.normalize('NFC')],
  // Katakana as the hiragana of the same sound.
  [/[\u30a1-\u30f6]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 0x60)],
];

const replaced = (text: string, alike: typeof ALIKE) =>
  alike.reduce((before, [from, to]) => before.replace(from, to as string), text);

/**
 * A text without the differences that people do not see or do not type. No step looks at a character's neighbours, so that
 * what a part becomes is a part of what the whole becomes.
 */
export function fold(text: string) {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  const bare = replaced(text, ALIKE).normalize('NFKD').replace(UNSEEN, '');
  // Upper case in between makes `ß` two letters and `ı` an i.
  return replaced(bare.toLowerCase().toUpperCase().toLowerCase(), ALIKE_LETTERS);
}

const LINE_BREAKS = /[\r\n]+/g;

/** Stands between descriptions that are folded at once, which takes a fifth of the time. PostgreSQL stores no such character. */
const BETWEEN = '\0';

const folded = new WeakMap<Todo, string>();

/** Folds the descriptions that have not been, which takes longer than to search them. */
export function prepareSearch(todos: Todo[]) {
  const missing = todos.filter((todo) => !folded.has(todo));
  const texts = missing.map(({ description }) => {
    // A field of one line may drop the line breaks of a pasted text.
    const inOneLine = description.replace(LINE_BREAKS, '');
    return inOneLine === description ? description : `${description}\n${inOneLine}`;
  });
  const parts = fold(texts.join(BETWEEN)).split(BETWEEN);
  missing.forEach((todo, index) => folded.set(todo, parts[index]!));
}

/** Todos that hold every word of a text, in any order, and those to be kept. */
export function search(todos: Todo[], text: string, kept = new Map<number, unknown>()) {
  const words = fold(text)
    .split(/[\s\p{Cc}]+/u)
    .filter(Boolean);
  if (words.length === 0) return todos;
  prepareSearch(todos);
  return todos.filter((todo) => kept.has(todo.id) || words.every((word) => folded.get(todo)!.includes(word)));
}
