import sonicBoom from 'sonic-boom';

/** Maximum length of unwritten lines while standard output takes none; further lines are dropped. */
const MAX_UNWRITTEN_BYTES = 8 * 1_024 ** 2;

/** Timeout for the last lines of an exiting process. */
const EXIT_LIMIT_MS = 1_000;

// Reading the property makes a pipe or a socket non-blocking: a thread that waits for a reader would keep the process from its exit.
Reflect.get(process, 'stdout');

let lines = '';
let exitsAt = Infinity;
let isBroken = false;

// Not pino.destination, whose flush at the exit does not end where standard output takes no lines, such as on a full disk.
const output = new sonicBoom.SonicBoom({
  fd: 1,
  sync: false,
  maxLength: MAX_UNWRITTEN_BYTES,
  retryEAGAIN: () => performance.now() < exitsAt,
});
// The service goes on without its log, because there is no other place to report the error. The next line tries again.
output.on('error', () => (isBroken = true)).on('write', () => (isBroken = false));

function writeLines() {
  const written = lines;
  lines = '';
  output.write(written);
}

process.on('exit', () => {
  exitsAt = performance.now() + EXIT_LIMIT_MS;
  if (lines !== '') writeLines();
  try {
    if (!isBroken) output.flushSync();
  } catch {
    // The reader has stopped.
  }
});

/** Standard output. Lines of one iteration of the event loop are written together: line by line costs 6 of the 60 us of a request. */
export const logStream = {
  write(line: string) {
    if (lines === '') setImmediate(writeLines);
    lines += line;
  },
};
