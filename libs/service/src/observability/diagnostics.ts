import { closeSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeHeapSnapshot } from 'node:v8';
import type { FastifyBaseLogger } from 'fastify';

/** Duration of a CPU profile. With a sample per millisecond, it has 5,000. */
const CPU_PROFILE_MS = 5_000;

/** Permissions of the files, which hold bodies of requests and the password of the database. */
const OWNER_ONLY = 0o600;

/**
 * Writes a CPU profile on SIGUSR1 and a heap snapshot on SIGUSR2 into a directory, and logs the path; logs at level debug after
 * SIGTTIN, until SIGTTOU. Signals need no port that others on the machine could connect to, as that of Node's inspector, which
 * SIGUSR1 would open.
 */
export function handleDiagnosticSignals(
  logger: Promise<FastifyBaseLogger>,
  { name, directory, logLevel }: { name: string; directory: string | undefined; logLevel: string },
) {
  process.on('SIGTTIN', () => void setLogLevel('debug'));
  process.on('SIGTTOU', () => void setLogLevel(logLevel));
  process.on('SIGUSR1', () => void writeInto(directory, 'CPU profile', 'cpuprofile', writeCpuProfile));
  process.on('SIGUSR2', () => void writeInto(directory, 'Heap snapshot', 'heapsnapshot', writeSnapshot));

  async function setLogLevel(logLevel: string) {
    const log = await logger;
    // One of the levels before and after may hide the line.
    log.level = 'info';
    log.info({ logLevel }, 'Log level changed');
    log.level = logLevel;
  }

  async function writeInto(
    directory: string | undefined,
    what: string,
    extension: string,
    write: (path: string) => Promise<void> | void,
  ) {
    const log = await logger;
    if (directory === undefined) {
      log.warn(`${what} not written: DIAGNOSTICS_DIRECTORY is not set`);
      return;
    }
    // Colons would separate a host from a path in `kubectl cp`.
    const time = new Date().toISOString().replaceAll(/[:.]/g, '-');
    const path = join(directory, `${name}-${process.pid}-${time}.${extension}`);
    const startedAt = performance.now();
    try {
      await write(path);
      // At level warn, because a snapshot blocks requests, and many services log no less.
      log.warn({ path, ms: Math.round(performance.now() - startedAt) }, `${what} written`);
    } catch (error) {
      log.error({ err: error, path }, `${what} not written`);
    }
  }
}

async function writeCpuProfile(path: string) {
  // Not before it is used, because the start of a service takes none of it.
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  await sleep(CPU_PROFILE_MS);
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  await writeFile(path, JSON.stringify(profile), { flag: 'wx', mode: OWNER_ONLY });
}

/** Blocks the process. A stream of the snapshot would hold all of it in memory. */
function writeSnapshot(path: string) {
  // V8 overwrites the file that it writes.
  closeSync(openSync(path, 'wx', OWNER_ONLY));
  writeHeapSnapshot(path);
}
