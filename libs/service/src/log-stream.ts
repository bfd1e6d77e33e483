import { destination } from 'pino';

const output = destination({ dest: 1, sync: true });
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
