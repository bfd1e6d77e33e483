import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RequestKind } from './scenarios.ts';
import { parseWrk, wrkScript } from './wrk.ts';

export interface Load {
  /** Base URL of the server. */
  url: string;
  requests: RequestKind[];
  connections: number;
  /** May be a fraction. */
  seconds: number;
}

export interface LoadResult {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Requests that were not answered with 2xx. */
  failed: number;
}

/** Program that sends requests over a number of connections; each sends the next request when it has the last response. */
export interface LoadGenerator {
  /** With its version. */
  name: string;
  run(load: Load): Promise<LoadResult>;
}

/** A slow answer is measured; one that comes after this time counts as none. */
export const TIMEOUT_SECONDS = 60;

const run = promisify(execFile);

/** wrk where it is installed, autocannon otherwise. @param directory for its scripts */
export async function findLoadGenerator(directory: string): Promise<LoadGenerator> {
  const name = await wrkVersion();
  return name === undefined ? autocannon : { name, run: (load) => runWrk(load, directory) };
}

async function wrkVersion() {
  try {
    // Exits with an error, having printed version and usage.
    await run('wrk', ['--version']);
    return 'wrk';
  } catch (error) {
    const { code, stdout } = error as { code: unknown; stdout: string };
    return code === 'ENOENT' ? undefined : (/^wrk \S+/.exec(stdout)?.[0] ?? 'wrk');
  }
}

async function runWrk({ url, requests, connections, seconds }: Load, directory: string) {
  const script = join(directory, 'wrk.lua');
  await writeFile(script, wrkScript(requests));
  const threads = Math.min(2, connections);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = execFile(
    'wrk',
    [
      ...[`--threads=${threads}`, `--connections=${connections}`, '--duration=1h'],
      ...[`--timeout=${TIMEOUT_SECONDS}s`, `--script=${script}`, url],
    ],
    (error, stdout, stderr) => (error ? reject(new Error(`wrk failed: ${stderr}`, { cause: error })) : resolve(stdout)),
  );
  // wrk itself counts whole seconds only. An interrupt ends it at any time, and it reports what it measured until then.
  const end = setTimeout(() => child.kill('SIGINT'), seconds * 1_000);
  try {
    return parseWrk(await promise);
  } finally {
    clearTimeout(end);
  }
}

export const autocannon: LoadGenerator = {
  name: 'autocannon',
  // A process of its own: it uses a whole core, and this one has measurements to take.
  async run(load) {
    const program = join(import.meta.dirname, 'autocannon.ts');
    const { stdout } = await run(process.execPath, [program, JSON.stringify(load)]);
    return JSON.parse(stdout) as LoadResult;
  },
};
