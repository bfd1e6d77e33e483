import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const docker = join(import.meta.dirname, '..');

/**
 * Reads a block of code from a document.
 * @param page its path in the folder docker
 * @param start the language of the block and how it begins, such as `sh\ncp -a`
 */
export function block(page: string, start: string) {
  const blocks = readFileSync(join(docker, page), 'utf8').split(/^```/m);
  const found = blocks.find((text) => text.startsWith(start));
  if (!found) throw new Error(`docker/${page} has no block that begins with ${start}`);
  return found.slice(found.indexOf('\n') + 1);
}
