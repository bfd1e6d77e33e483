import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';

/** Maximum length of unwritten lines while standard output takes none; further lines are dropped. */
const MAX_UNWRITTEN_BYTES = 8 * 1_024 ** 2;

/** Timeout for the last lines of an exiting process. */
const EXIT_LIMIT_MS = 500;

// Reading the property makes a pipe or a socket non-blocking: a thread that waits for a reader would keep the process from its exit.
Reflect.get(process, 'stdout');

/** Standard output, written in the background. Without a minimum length, flush() would not wait. */
export const logStream = pino.destination({ fd: 1, sync: false, minLength: 1, maxLength: MAX_UNWRITTEN_BYTES });

// The service goes on without its log, because there is no other place to report the error. The next line tries again.
logStream.on('error', () => undefined);

// pino calls it at the exit, where it would repeat a write that fails, such as on a full disk, for ever.
logStream.flushSync = () => undefined;

/** Waits until the log has been written, or can't be: to be called before the process exits. */
export async function flushLog() {
  const flushed = () => new Promise<void>((resolve) => logStream.flush(() => resolve()));
  // A flush beside a write ends with that write, and may leave later lines.
  await Promise.race([flushed().then(flushed), sleep(EXIT_LIMIT_MS)]);
}
