import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * Stops all processes of a server, or lets them continue.
 * @returns their ids, the postmaster's first
 */
export async function signalServer(postmaster: number, name: 'SIGSTOP' | 'SIGCONT'): Promise<number[]> {
  // The postmaster first: otherwise it would start other processes.
  signalProcess(postmaster, name);
  const children = (await processes()).filter(({ parent }) => parent === postmaster).map(({ pid }) => pid);
  children.forEach((pid) => signalProcess(pid, name));
  return [postmaster, ...children];
}

export function signalProcess(pid: number, name: NodeJS.Signals) {
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
    if (process.platform === 'linux') return (await readFile(`/proc/${pid}/comm`, 'utf8')).trim();
    const { stdout } = await promisify(execFile)('ps', ['-p', `${pid}`, '-o', 'comm=']);
    return stdout.trim();
  } catch {
    return '';
  }
}

/** Processes of the machine; containers often have no `ps`. */
export async function processes() {
  if (process.platform !== 'linux') {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,state=,ppid=']);
    return stdout.trim().split('\n').map(processOf);
  }
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)));
  // The name, in brackets, may hold anything.
  return lines.filter((line) => line !== undefined).map((line) => processOf(line.replace(/\(.*\) /s, '')));
}

function processOf(line: string) {
  const [pid, state, parent] = line.trim().split(/\s+/) as [string, string, string];
  return { pid: Number(pid), state, parent: Number(parent) };
}
