import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

/** Whether the system tells what a process uses, as Linux does. */
const hasProc = existsSync('/proc/self/stat');
const ticksPerSecond = hasProc ? Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) : 0;

interface Usage {
  parent: number;
  ownTicks: number;
  endedChildrenTicks: number;
}

/**
 * Reads a line of `/proc/PID/stat`.
 * @returns the process's parent and CPU time, and that of its children that have ended
 */
export function parseStat(line: string): Usage {
  // The second field, the program's name in parentheses, may hold anything. Field 3 follows the last parenthesis.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  return { parent: field(4), ownTicks: field(14) + field(15), endedChildrenTicks: field(16) + field(17) };
}

/** CPU microseconds that a process has used so far; `undefined` where the system does not tell. */
export async function cpuOf(pid: number): Promise<number | undefined> {
  if (!hasProc) return undefined;
  const { ownTicks } = parseStat(await readFile(`/proc/${pid}/stat`, 'utf8'));
  return inMicroseconds(ownTicks);
}

/** CPU microseconds that a process and all its children, ended ones too, have used so far: a PostgreSQL server. */
export async function cpuOfFamily(pid: number): Promise<number | undefined> {
  if (!hasProc) return undefined;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const usages = await Promise.all(
    pids.map(async (each) => {
      // It may have ended since the folder was listed.
      const line = await readFile(`/proc/${each}/stat`, 'utf8').catch(() => undefined);
      return line === undefined ? undefined : { pid: Number(each), ...parseStat(line) };
    }),
  );
  const ticks = usages.map((usage) => {
    if (usage?.pid === pid) return usage.ownTicks + usage.endedChildrenTicks;
    return usage?.parent === pid ? usage.ownTicks : 0;
  });
  return inMicroseconds(ticks.reduce((sum, each) => sum + each, 0));
}

/** Memory of a process that is in RAM; `undefined` where the system does not tell. */
export async function rssMbOf(pid: number): Promise<number | undefined> {
  if (!hasProc) return undefined;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1_024;
}

const inMicroseconds = (ticks: number) => (ticks / ticksPerSecond) * 1_000_000;
