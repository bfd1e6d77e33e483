import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const isLinux = process.platform === 'linux';
const outputOf = async (program: string, ...args: string[]) => (await promisify(execFile)(program, args)).stdout;

/**
 * Stops all processes of a server, or lets them continue.
 * @returns their ids, the postmaster's first
 */
export async function signalServer(postmaster: number, name: 'SIGSTOP' | 'SIGCONT'): Promise<number[]> {
  // Only while the postmaster is stopped, it starts no others, and Linux lists all of them.
  if (name === 'SIGSTOP') process.kill(postmaster, name);
  const pids = await childrenOf(postmaster);
  for (const pid of pids)
    try {
      process.kill(pid, name);
    } catch {
      // It has ended by itself.
    }
  if (name === 'SIGCONT') process.kill(postmaster, name);
  return [postmaster, ...pids];
}

async function childrenOf(parent: number) {
  // Containers often have no pgrep.
  const list = isLinux
    ? readFile(`/proc/${parent}/task/${parent}/children`, 'utf8')
    : outputOf('pgrep', '-P', `${parent}`);
  return Array.from((await list.catch(() => '')).matchAll(/\d+/g), Number);
}

/** Name of the program that a process runs, or a path to it; empty when there is no such process. */
export async function commandOf(pid: number) {
  try {
    const name = isLinux ? readFile(`/proc/${pid}/comm`, 'utf8') : outputOf('ps', '-p', `${pid}`, '-o', 'comm=');
    return (await name).trim();
  } catch {
    return '';
  }
}
