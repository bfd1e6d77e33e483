import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { closedAtEnd } from '../closed-at-end.ts';

/** A line of a service's log. */
export type LogLine = Record<string, unknown> & { msg: string };

const logs: LogLine[][] = [];

// For jest-environment.mjs.
Object.assign(globalThis, {
  explainRefusals() {
    const refusals = logs.flat().filter(({ status }) => status === 503);
    for (const [reason, { length }] of Map.groupBy(refusals, (line) => line.reason))
      console.error(`503 ${String(reason)}: ${length}`);
  },
});

/** Starts a service as a process. It listens on a free port of 127.0.0.1 unless `environment` sets HOST and PORT. */
export function startProcess(main: string | string[], environment: NodeJS.ProcessEnv, ...args: string[]) {
  const child = spawn(process.execPath, [main, ...args].flat(), {
    env: { PATH: process.env.PATH, NODE_ENV: 'test', HOST: '127.0.0.1', PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  closedAtEnd(() => child.kill('SIGKILL'));
  const log: LogLine[] = [];
  logs.push(log);
  const lines = createInterface({ input: child.stdout }).on('line', (line) => log.push(JSON.parse(line) as LogLine));
  const errors = text(child.stderr);
  const ended = once(child, 'close').then(async ([code]: (number | null)[]) => ({ code, errors: await errors }));

  /**
   * Waits for a log line.
   * @param wanted a pattern for its message, or a condition
   * @throws Error when the process ends without it
   */
  async function logged(wanted: RegExp | ((line: LogLine) => boolean)): Promise<LogLine> {
    const isWanted = wanted instanceof RegExp ? ({ msg }: LogLine) => wanted.test(msg) : wanted;
    for (let hasEnded = false; ;) {
      const found = log.find(isWanted);
      if (found) return found;
      if (hasEnded) throw new Error(`Ended without logging ${String(wanted)}: ${JSON.stringify(log)} ${await errors}`);
      hasEnded = await Promise.race([once(lines, 'line').then(() => false), ended.then(() => true)]);
    }
  }

  return {
    child,
    log,
    logged,
    /** Settles when the process has ended, with its exit code (`null` after a signal) and what it wrote to stderr. */
    ended,
    /** Settles when the service listens, with its base URL. */
    listening: async () => {
      const { msg } = await logged(/^Server listening at/);
      return msg.replace('Server listening at ', '');
    },
  };
}
