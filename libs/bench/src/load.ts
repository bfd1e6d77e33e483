import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Request } from './scenarios.ts';

export interface LoadResult {
  requests: number;
  perSecond: number;
  p99Ms: number;
  /** Requests without a response of 2xx. */
  failed: number;
}

/** Timeout for a response: a slow one is measured. */
const TIMEOUT_SECONDS = 60;

/** @returns name and version of wrk @throws Error where it is not installed */
export function wrkVersion(): string {
  // Prints its version with its usage, and exits with an error.
  const { error, stdout } = spawnSync('wrk', ['--version'], { encoding: 'utf8' });
  const version = error ? undefined : /^wrk \S+/.exec(stdout)?.[0];
  if (!version) throw new Error('wrk is not installed: `apt-get install wrk` or `brew install wrk`');
  return version;
}

/**
 * Sends requests with wrk; each connection sends the next request when it has the last response.
 * @param seconds may be a fraction
 * @param directory for the script
 * @throws Error when wrk fails or the signal is aborted
 */
export async function runLoad(
  url: string,
  request: Request,
  connections: number,
  seconds: number,
  directory: string,
  signal: AbortSignal,
): Promise<LoadResult> {
  const script = join(directory, 'wrk.lua');
  await writeFile(script, wrkScript(request));
  const running = promisify(execFile)(
    'wrk',
    [
      ...[`--threads=${Math.min(2, connections)}`, `--connections=${connections}`, '--duration=1h'],
      ...[`--timeout=${TIMEOUT_SECONDS}s`, `--script=${script}`, url],
    ],
    { signal },
  );
  // Its own duration is whole seconds. An interrupt ends it at any time with the results until then.
  const end = setTimeout(() => running.child.kill('SIGINT'), seconds * 1_000);
  const { stdout } = await running.finally(() => clearTimeout(end));
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as LoadResult;
}

/** The Lua program with which wrk makes each request, and prints the result as a line of JSON at the end. */
const wrkScript = ({ method, path, body, key }: Request) => `
local random = math.random
local host

local threads = 0
function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init()
  host = wrk.host .. ":" .. wrk.port
  math.randomseed(os.time() + number * 7919)
end

function request()
  local head = "${method} " .. ${path} .. " HTTP/1.1\\r\\nHost: " .. host .. "\\r\\n"
  local body = ${body ?? '""'}
  ${key ? `head = head .. "Idempotency-Key: " .. ${key} .. "\\r\\n"` : ''}
  ${body ? 'head = head .. "Content-Type: application/json\\r\\nContent-Length: " .. #body .. "\\r\\n"' : ''}
  return head .. "\\r\\n" .. body
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format(
    '\\n{"requests":%d,"perSecond":%.3f,"p99Ms":%.3f,"failed":%d}\\n',
    summary.requests, summary.requests * 1e6 / summary.duration, latency:percentile(99) / 1e3, failed
  ))
end
`;
