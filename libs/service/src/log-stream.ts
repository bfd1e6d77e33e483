import { destination } from 'pino';

/** What could not be written yet, such as while a disk is full, is kept up to this length; what comes on top is lost. */
const MAX_UNWRITTEN_BYTES = 8 * 1_024 ** 2;

const output = destination({ dest: 1, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
// A service goes on without its log. There is no place to tell about it.
output.on('error', () => undefined);
let lines = '';

function flush() {
  const written = lines;
  lines = '';
  if (written) output.write(written);
}
process.on('exit', flush);

/**
 * Standard output. The lines of one turn of the event loop are written together, which under load is one system call
 * for many requests. They are written synchronously, and before the process exits: none is lost when it ends, and none
 * that waits could make it hang because nobody reads its output any more.
 */
export const logStream = {
  write(line: string) {
    if (lines === '') setImmediate(flush);
    lines += line;
  },
};
