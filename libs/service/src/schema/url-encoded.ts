/**
 * Makes a reader of the first values of these parameters of query strings or forms: null for one that is not UTF-8. It skips all
 * others, because to decode and keep the 230,000 that a form of 1 MiB can hold takes most of a second.
 */
export function urlEncodedReader(names: readonly string[]) {
  const parameters = names.map((name) => [name, parameterPattern(name)] as const);
  return (text: string) => {
    const values: Record<string, string | null> = {};
    for (const [name, pattern] of parameters) {
      const match = pattern.exec(text);
      if (match) values[name] = decoded(match[1] ?? '');
    }
    return values;
  };
}

/** Matches a parameter, each character of its name as it is or percent-encoded, and captures its value. */
function parameterPattern(name: string) {
  const characters = Array.from(name, (character) => `(?:${character}|%${hexPattern(character)})`);
  return new RegExp(`(?:^|&)${characters.join('')}(?:=([^&]*)|(?=&|$))`);
}

/** The code of an ASCII character in hexadecimal digits of either case: `6[eE]` for `n`. */
const hexPattern = (character: string) =>
  character
    .charCodeAt(0)
    .toString(16)
    .replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`);

/** A percent sign that encodes nothing stands for itself. */
function decoded(value: string) {
  if (!/[+%]/.test(value)) return value;
  try {
    return decodeURIComponent(value.replaceAll('+', ' ').replace(/%(?![\da-f]{2})/gi, '%25'));
  } catch {
    return null;
  }
}
