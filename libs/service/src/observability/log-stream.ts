import { destination } from 'pino';
import { writeBuffer } from './write-buffer.ts';

/** Maximum length of unwritten lines while standard output takes none; further lines are dropped. */
const MAX_UNWRITTEN_BYTES = 8 * 1_024 ** 2;

/** Timeout for the last lines of an exiting process. */
const EXIT_LIMIT_MS = 1_000;

const RETRY_MS = 100;

// Reading the property makes a pipe or a socket non-blocking. Otherwise, a reader that stops would stop the service.
Reflect.get(process, 'stdout');

let exitsAt = 0;
const output = destination({
  dest: 1,
  sync: true,
  maxLength: MAX_UNWRITTEN_BYTES,
  // pino sleeps between its retries, so that only an exiting process may use them.
  retryEAGAIN: () => performance.now() < exitsAt,
});
const lines = writeBuffer<{ toString: () => string }>((present) => {
  output.write(present.join(''));
});
let isRetrying = false;

// The service goes on without its log, because there is no other place to report the error.
output.on('error', () => {
  if (isRetrying) return;
  isRetrying = true;
  setTimeout(() => {
    isRetrying = false;
    output.write('');
  }, RETRY_MS).unref();
});

process.on('exit', () => {
  exitsAt = performance.now() + EXIT_LIMIT_MS;
  lines.flush();
  output.write('');
});

/** Standard output. Writes many lines in one system call, synchronously, because an ending process would lose the others. */
export const logStream = {
  /** Writes at the end of the event-loop turn. */
  write(line: string) {
    lines.add(line);
    setImmediate(lines.flush);
  },
  /** Writes with the next line of `write`, or with the next flush, which turns the line into a string. */
  writeLater(line: { toString: () => string }) {
    lines.add(line);
  },
};
