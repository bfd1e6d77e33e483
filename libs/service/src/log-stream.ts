import { destination } from 'pino';
import { collected } from './collected.ts';

/** What could not be written yet, because nobody reads it or a disk is full, is kept up to this length; what comes on top is lost. */
const MAX_UNWRITTEN_BYTES = 8 * 1_024 ** 2;

/** An exiting process waits this long for somebody to read what it has logged. */
const EXIT_LIMIT_MS = 1_000;

const RETRY_MS = 100;

// Asked for, it becomes non-blocking where it is a pipe or a socket. A reader that stops would stop the service otherwise.
Reflect.get(process, 'stdout');

let exitsAt = 0;
const output = destination({
  dest: 1,
  sync: true,
  maxLength: MAX_UNWRITTEN_BYTES,
  // In its own way, which is to sleep meanwhile.
  retryEAGAIN: () => performance.now() < exitsAt,
});
const lines = collected<{ toString: () => string }>((present) => {
  output.write(present.join(''));
});
let isRetrying = false;

// A service goes on without its log. There is no place to tell about it.
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

/**
 * Standard output. Lines are written together, which under load is one system call for many requests; and synchronously, so that
 * none is lost when the process ends; unless nobody takes them.
 */
export const logStream = {
  /** At the end of the turn of the event loop. */
  write(line: string) {
    lines.add(line);
    setImmediate(lines.flush);
  },
  /** With the next line of `write`, or when many have been collected, or 20 ms later: only then is the line's text made. */
  writeLater: (line: { toString: () => string }) => lines.add(line),
};
