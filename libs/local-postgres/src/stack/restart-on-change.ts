import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Delay before a restart, in which further changes belong to it: `git checkout` makes many. */
const SETTLED_AFTER_MS = 100;

/**
 * Starts a process, and another one after each change of a file that it has loaded, until `isStopping`. Folders are watched, and not
 * files as by `node --watch`: a file that editors save by renaming another one over it is lost after the first time.
 * @param start starts a process that loads `report-files.ts` and has an IPC channel
 */
export function restartOnChange(name: string, start: () => ChildProcess, isStopping: () => boolean) {
  const loaded = new Map<string, Set<string>>();
  const watchers = new Map<string, FSWatcher>();
  let child: ChildProcess;
  let timer: NodeJS.Timeout | undefined;
  let restarting = false;

  function run() {
    child = start();
    child.on('message', (path: string) => {
      const folder = dirname(path);
      loaded.set(folder, (loaded.get(folder) ?? new Set()).add(basename(path)));
      watchFolder(folder);
    });
    child.on('exit', (code) => {
      if (code !== 0 && !restarting && !isStopping())
        console.error(`${name} has failed, and starts again after a change.`);
    });
  }

  function watchFolder(folder: string) {
    if (watchers.has(folder)) return;
    const watcher = watch(folder, (_event, name) => {
      if (name && loaded.get(folder)?.has(name)) changed();
    });
    // The folder has gone. A file that is loaded from a new one of its name is watched again.
    watcher.on('error', () => undefined);
    watchers.set(folder, watcher);
  }

  function changed() {
    clearTimeout(timer);
    timer = setTimeout(() => void restart(), SETTLED_AFTER_MS);
  }

  async function restart() {
    if (restarting || isStopping()) return;
    restarting = true;
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    restarting = false;
    if (isStopping()) return;
    for (const watcher of watchers.values()) watcher.close();
    watchers.clear();
    // Also of files that this start does not come to, for an error in another one.
    for (const folder of loaded.keys()) if (existsSync(folder)) watchFolder(folder);
    run();
  }

  run();
}
