import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { globSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/** Delay before a restart, in which further changes belong to it: `git checkout` makes many. */
const SETTLED_AFTER_MS = 100;

export const workspace = join(import.meta.dirname, '..', '..', '..', '..');

/** All processes that this one has started. */
export const children: ChildProcess[] = [];

/** Starts a program of Node.js that ends with this process. */
export function startNode(args: string[], options: { cwd?: string; env: NodeJS.ProcessEnv }) {
  // A URL, since a path may hold `#` and `%`.
  const preload = `--import=${pathToFileURL(join(import.meta.dirname, 'end-with-launcher.ts')).href}`;
  const child = spawn(process.execPath, [preload, ...args], {
    ...options,
    stdio: ['pipe', 'pipe', 'inherit'],
    // A group of its own: Ctrl-C reaches the launcher alone, which then stops the services before the database.
    detached: true,
  });
  children.push(child);
  return child;
}

export async function stopChild(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Starts a process, and another one after each change of a source of the service or of a lib, until `isStopping`. */
export async function restartOnChange(name: string, start: () => ChildProcess, isStopping: () => boolean) {
  while (!isStopping()) {
    const child = start().on('exit', (code, signal) => {
      if (code || (signal && signal !== 'SIGTERM'))
        console.error(`${name} has failed, and starts again after a change.`);
    });
    await nextChange([`apps/${name}/src/{,**/}`, 'libs/*/src/{,**/}']);
    await stopChild(child);
  }
}

/** Watches each folder: `node --watch` and recursive watchers lose a file that editors save by renaming another one over it. */
async function nextChange(folders: string[]) {
  const watchers = globSync(folders, { cwd: workspace }).map((folder) => watch(join(workspace, folder)));
  await new Promise<void>((resolve) => {
    for (const watcher of watchers) {
      watcher.on('error', () => resolve());
      watcher.on('change', (_, file) => /\.(ts|sql)$/.test(String(file)) && resolve());
    }
  });
  await sleep(SETTLED_AFTER_MS);
  watchers.forEach((watcher) => watcher.close());
}
