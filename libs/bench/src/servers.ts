import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { freePort } from '@rest-services/local-postgres';

const START_LIMIT_MS = 30_000;

/** Unit of CPU time in `/proc`, the same on all architectures. */
const TICK_US = 10_000;

const dockerfile = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docker', 'Dockerfile'), 'utf8');

/** Environment of the images, so that a benchmark measures production's settings of Node.js and its allocator. */
const imageEnvironment = parseEnv(/^ENV (.+?)( \\)?$/m.exec(dockerfile)![1]!.replaceAll(/ (?=\w+=)/g, '\n'));

/** V8 flags of the images' command, which `NODE_OPTIONS` does not allow. */
const imageFlags = (JSON.parse(/^CMD (.+)$/m.exec(dockerfile)![1]!) as string[]).slice(1, -1);

export interface Server {
  url: string;
  pid: number;
  /** From the start of the process to the first response. */
  startMs: number;
}

/**
 * Starts a server in a dedicated process, in production mode and otherwise with its default settings. Its log is discarded,
 * because the service must not pay for the log's destination.
 * @param stack stops the server when it is disposed
 * @param firstPath path to request until it responds with 200
 */
export async function startServer(
  stack: AsyncDisposableStack,
  program: string,
  databaseUrl: string,
  firstPath = '/v1/items/1',
): Promise<Server> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const started = performance.now();
  const child = spawn(process.execPath, [...imageFlags, program], {
    env: {
      PATH: process.env.PATH,
      // The baselines get the same environment and flags.
      ...imageEnvironment,
      HOST: '127.0.0.1',
      PORT: `${port}`,
      DATABASE_URL: databaseUrl,
      // Needs no delay, because the load has ended before the server is stopped.
      SHUTDOWN_DELAY_MS: '0',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  stack.defer(async () => {
    if (child.kill('SIGTERM')) await once(child, 'exit');
  });
  await firstResponse(child, url + firstPath);
  return { url, pid: child.pid!, startMs: performance.now() - started };
}

/** Requests the URL until it responds with 200, because only a response tells that a process without a log is ready. */
async function firstResponse(child: ChildProcess, url: string) {
  const deadline = performance.now() + START_LIMIT_MS;
  while (child.exitCode === null && performance.now() < deadline) {
    const response = await fetch(url).catch(() => undefined);
    await response?.text();
    if (response?.status === 200) return;
    await sleep(2);
  }
  throw new Error(`${child.spawnargs.join(' ')} does not respond to ${url}`);
}

/** CPU microseconds that processes and all their children, ended ones too, have used so far, as Linux counts them. */
export async function cpuUsOf(...pids: number[]): Promise<number> {
  let ticks = 0;
  for (const each of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    // A process may have ended since the folder was listed.
    const line = await readFile(`/proc/${each}/stat`, 'utf8').catch(() => '');
    // The second field, the program's name in parentheses, may hold anything. Field 3 follows the last parenthesis.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    const field = (number: number) => Number(fields[number - 3]);
    if (pids.includes(Number(each))) ticks += field(14) + field(15) + field(16) + field(17);
    else if (pids.includes(field(4))) ticks += field(14) + field(15);
  }
  return ticks * TICK_US;
}

/** Memory of a process that is in RAM. */
export async function rssMbOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1_024;
}
