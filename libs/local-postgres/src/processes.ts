import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const isLinux = process.platform === 'linux';
const outputOf = async (program: string, ...args: string[]) => (await promisify(execFile)(program, args)).stdout;

/**
 * Stops all processes of a server, or lets them continue.
 * @returns their ids, the postmaster's first
 */
export async function signalServer(postmaster: number, name: 'SIGSTOP' | 'SIGCONT'): Promise<number[]> {
  // The postmaster first: otherwise it would start other processes.
  signalProcess(postmaster, name);
  const pids = await childrenOf(postmaster);
  pids.forEach((pid) => signalProcess(pid, name));
  return [postmaster, ...pids];
}

async function childrenOf(parent: number) {
  if (!isLinux) return (await outputOf('pgrep', '-P', `${parent}`)).trim().split('\n').map(Number);
  // Containers often have no ps.
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  // The name, in brackets, may hold anything.
  const processes = lines.map((line) => /^(\d+) \(.*\) \w (\d+) /s.exec(line)?.slice(1).map(Number) ?? []);
  return processes.filter(([, ppid]) => ppid === parent).map(([pid]) => pid!);
}

function signalProcess(pid: number, name: NodeJS.Signals) {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It has ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Name of the program that a process runs, or a path to it; empty when there is no such process. */
export async function commandOf(pid: number) {
  try {
    return (
      await (isLinux ? readFile(`/proc/${pid}/comm`, 'utf8') : outputOf('ps', '-p', `${pid}`, '-o', 'comm='))
    ).trim();
  } catch {
    return '';
  }
}
