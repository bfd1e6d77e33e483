import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';

/** Maximum length of unwritten lines while standard output takes none; further lines are dropped. */
const MAX_UNWRITTEN_BYTES = 8 * 1_024 ** 2;

/** Timeout for the last lines of an exiting process. */
const EXIT_LIMIT_MS = 500;

// Reading the property makes a pipe or a socket non-blocking: a thread that waits for a reader would keep the process from its exit.
Reflect.get(process, 'stdout');

/** Standard output, written in the background. Without a minimum length, flush() would not wait. */
const destination = pino.destination({ fd: 1, sync: false, minLength: 1, maxLength: MAX_UNWRITTEN_BYTES });

// The service goes on without its log, because there is no other place to report the error. The next line tries again.
destination.on('error', () => undefined);

// At the exit pino would repeat a write that fails, such as on a full disk, for ever.
process.prependListener('exit', () => destination.destroy());

let lines = '';

function writeLines() {
  if (lines !== '') destination.write(lines);
  lines = '';
}

/** Lines of one iteration of the event loop are written together: line by line costs 3 of the 35 us of a request. */
export const logStream = {
  write(line: string) {
    if (lines === '') setImmediate(writeLines);
    lines += line;
  },
};

/** Waits until the log has been written, or can't be: to be called before the process exits. */
export async function flushLog() {
  writeLines();
  const flushed = new Promise<void>((resolve) => destination.flush(() => resolve()));
  await Promise.race([flushed, sleep(EXIT_LIMIT_MS)]);
}
