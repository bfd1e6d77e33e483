import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** An ordinary user: pgbouncer refuses to run as root. */
export const UNPRIVILEGED_ID = 65_534;

/**
 * Starts a program in the foreground with configuration files in a folder of their own, and waits until it listens.
 * @param args may hold `FOLDER`, and so may the files
 */
export async function startProgram(name: string, args: string[], files: Record<string, string>, port: number) {
  const folder = await mkdtemp(join(tmpdir(), `${basename(name)}-`));
  await chmod(folder, 0o755);
  const placed = (text: string) => text.replaceAll('FOLDER', folder);
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), placed(text));
  const asNobody = process.getuid!() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};
  const child = spawn(name, args.map(placed), { stdio: ['ignore', 'inherit', 'inherit'], ...asNobody });
  await Promise.race([listening(port), once(child, 'exit').then(() => Promise.reject(new Error(`${name} has ended`)))]);
  return {
    stop: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function listening(port: number) {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(20);
  }
}
