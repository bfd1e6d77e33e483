import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { closedAtEnd } from '@rest-services/testing';

/** The bundle of items. */
export const main = join(import.meta.dirname, '../../apps/items/dist/main.js');

/**
 * Reads a block of code from a document.
 * @param page its path in the folder docker
 * @param start the language of the block and how it begins, such as `sh\ncp -a`
 */
export function block(page: string, start: string) {
  const blocks = readFileSync(join(import.meta.dirname, '..', page), 'utf8').split(/^```/m);
  const found = blocks.find((text) => text.startsWith(start));
  if (!found) throw new Error(`docker/${page} has no block that begins with ${start}`);
  return found.slice(found.indexOf('\n') + 1);
}

/** Installs those of these Debian packages that are missing. */
export function install(...packages: string[]) {
  execFileSync(join(import.meta.dirname, 'install'), packages, { stdio: ['ignore', 'ignore', 'inherit'] });
}

const isRoot = process.getuid!() === 0;

/** An ordinary user: pgbouncer and PostgreSQL refuse to run as root. */
const UNPRIVILEGED_ID = 65_534;

/** Options of a child process that must not be root. */
export const asUnprivileged = isRoot ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};

/** @returns the path of an empty folder that belongs to the ordinary user */
export async function temporaryFolder(name: string) {
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  await chmod(folder, 0o755);
  if (isRoot) await chown(folder, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
  return folder;
}

/**
 * Starts a program in the foreground, with configuration files in a folder of their own, and waits until it listens.
 * @param args may hold `FOLDER`, and so may the files
 */
export async function startProgram(name: string, args: string[], files: Record<string, string>, port: number) {
  const folder = await temporaryFolder(basename(name));
  const placed = (text: string) => text.replaceAll('FOLDER', folder);
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), placed(text));
  const child = spawn(name, args.map(placed), {
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' },
    stdio: ['ignore', 'ignore', 'inherit'],
    ...asUnprivileged,
  });
  await Promise.race([listening(port), once(child, 'exit').then(() => Promise.reject(new Error(`${name} has ended`)))]);
  return {
    folder,
    child,
    stop: closedAtEnd(async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    }),
  };
}

async function listening(port: number) {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const connected = await once(socket, 'connect').catch(() => undefined);
    socket.destroy();
    if (connected) return;
    await sleep(20);
  }
}
