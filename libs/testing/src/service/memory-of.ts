import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/**
 * Reads how many bytes a process holds as a container counts them: without the pages of files, which the system takes back from one that
 * is full.
 */
export async function memoryOf({ pid }: ChildProcess) {
  const [, kilobytes] = /^RssAnon:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kilobytes) * 1_024;
}
