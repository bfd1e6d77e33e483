import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** A curl line of a README, and the response that the line below it shows: `# STATUS BODY`, or `# STATUS` without a body. */
export interface Example {
  line: string;
  method: string;
  /** Path and query, without the host. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
  status: number;
  /** Matches the body. `…` in the README matches any part of a JSON string, and further properties at the end of an object. */
  pattern: RegExp;
}

/** @throws Error when a curl line has no response below it or an unknown option */
export function readmeExamples(file: string): Example[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line, index) => (line.startsWith('curl ') ? [parseExample(line, lines[index + 1] ?? '')] : []));
}

function parseExample(line: string, response: string): Example {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]!);
  const { values, positionals } = parseArgs({
    args: words.slice(1),
    allowPositionals: true,
    options: {
      request: { type: 'string', short: 'X' },
      header: { type: 'string', short: 'H', multiple: true },
      data: { type: 'string', short: 'd' },
    },
  });
  const [, status, body = ''] = /^# (\d{3})(?: (.*)|$)/.exec(response) ?? [];
  if (!status) throw new Error(`No response below: ${line}`);
  const escaped = body
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(',…\\}', ',[^}]+\\}')
    .replaceAll('…', '[^"]+');
  return {
    line,
    method: values.request ?? 'GET',
    path: positionals[0]!.replace(/^localhost:\d+/, ''),
    headers: {
      ...(values.data === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...Object.fromEntries((values.header ?? []).map((header) => header.split(': ') as [string, string])),
    },
    body: values.data,
    status: Number(status),
    pattern: new RegExp(`^${escaped}$`),
  };
}
