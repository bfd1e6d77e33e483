import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { globSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';

/** Delay before a restart, in which further changes belong to it: `git checkout` makes many. */
const SETTLED_AFTER_MS = 100;

const workspace = join(import.meta.dirname, '..', '..', '..', '..');

/**
 * Starts a process, and another one after each change of a source of the service or of a lib, until `isStopping`. Each folder is
 * watched: `node --watch` and recursive watchers lose a file that editors save by renaming another one over it.
 */
export function restartOnChange(name: string, start: () => ChildProcess, isStopping: () => boolean) {
  const sources = [`apps/${name}/src/{,**/}`, 'libs/*/src/{,**/}'];
  let watchers: FSWatcher[] = [];
  let child: ChildProcess;
  let timer: NodeJS.Timeout | undefined;
  let restarting = false;

  function run() {
    watchers.forEach((watcher) => watcher.close());
    const folders = globSync(sources, { cwd: workspace });
    watchers = folders.map((folder) => watch(join(workspace, folder), changed).on('error', () => undefined));
    child = start();
    child.on('exit', (code) => {
      if (code !== 0 && !restarting && !isStopping())
        console.error(`${name} has failed, and starts again after a change.`);
    });
  }

  function changed(_event: string, file: string | null) {
    if (!file?.endsWith('.ts') && !file?.endsWith('.sql')) return;
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
    if (!isStopping()) run();
  }

  run();
}
