import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { expect } from '@jest/globals';

/** Sends the curl lines of a README in their order to a service with empty tables, and expects the responses below them. */
export async function expectReadme(file: string, url: string) {
  const lines = readFileSync(file, 'utf8').split('\n');
  const examples = lines.flatMap((line, index) => (line.startsWith('curl ') ? [[line, lines[index + 1]!]] : []));
  expect(examples.length).toBeGreaterThan(5);
  for (const [line, below] of examples as [string, string][]) {
    const { path, ...init } = parseCurl(line);
    const response = await fetch(url + path, init);
    const received = `# ${response.status} ${await response.text()}`.trim();
    expect([line, received]).toEqual([line, expect.stringMatching(patternOf(below))]);
  }
}

/** Reads a curl line with the options that the READMEs use. */
function parseCurl(line: string) {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]!);
  const { values, positionals } = parseArgs({
    args: words.slice(1),
    allowPositionals: true,
    options: {
      request: { type: 'string', short: 'X', default: 'GET' },
      header: { type: 'string', short: 'H', multiple: true, default: [] },
      data: { type: 'string', short: 'd' },
    },
  });
  return {
    path: positionals[0]!.replace(/^localhost:\d+/, ''),
    method: values.request,
    headers: values.header.map((header) => header.split(': ') as [string, string]),
    ...(values.data !== undefined && { body: values.data }),
  };
}

/** `…` in a README matches any part of a JSON string, and further properties at the end of an object. */
function patternOf(line: string) {
  const escaped = line
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(',…\\}', ',[^}]+\\}')
    .replaceAll('…', '[^"]+');
  return new RegExp(`^${escaped}$`);
}
