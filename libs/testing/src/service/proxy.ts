import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { started } from './process.ts';

/** Path of the command line of Prism, a proxy that compares responses with the document. Tests call services directly without it. */
const { PRISM_CLI } = process.env;

/** Puts Prism in front of a service where `PRISM_CLI` is set, and returns the URL to send requests to. */
export async function proxied(url: string): Promise<string> {
  if (!PRISM_CLI) return url;
  // Prism would take those of Jest.
  const env = { ...process.env, NODE_OPTIONS: '' };
  const args = [PRISM_CLI, 'proxy', `${url}/openapi.json`, url, '--port', '0'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    const listening = /Prism is listening on (\S+)/.exec(line)?.[1];
    if (listening) {
      child.stdout.resume();
      return listening;
    }
  }
  throw new Error(`Prism does not listen: ${lines.join('\n')}`);
}

interface Violation {
  location: string[];
  message: string;
}

/** @throws Error when the proxy has found that a response differs from the document */
export function checkViolations({ url, headers }: Response) {
  const violations = JSON.parse(headers.get('sl-violations') ?? '[]') as Violation[];
  const found = violations.filter(({ location }) => location[0] === 'response');
  if (found.length > 0) throw new Error(`Prism finds in the response of ${url}: ${JSON.stringify(found)}`);
}
