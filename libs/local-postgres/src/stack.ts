import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pretty from 'pino-pretty';
import { startCluster } from './cluster.ts';
import { ensureDatabase } from './databases.ts';

/** Every service with its port in the local stack and the path that shows something. */
const services = [{ name: 'items', port: 8080, path: '/v1/items' }];

const workspace = join(import.meta.dirname, '..', '..', '..');
const { values: flags } = parseArgs({ options: { watch: { type: 'boolean', default: false } } });

const children: ChildProcess[] = [];
let stopping = false;

// npm passes a Ctrl-C on that the terminal has sent to everybody already, so more than one signal is one wish.
const stopSignal = new Promise<number>((resolve) => {
  process.on('SIGINT', () => resolve(0));
  process.on('SIGTERM', () => resolve(0));
});

const server = process.env.DATABASE_URL
  ? { url: process.env.DATABASE_URL, stop: () => Promise.resolve() }
  : await startCluster(join(workspace, '.data', 'postgres'), { durable: true });
try {
  process.exitCode = await Promise.race([stopSignal, runServices()]);
} finally {
  stopping = true;
  await Promise.all(children.map(stopChild));
  await server.stop();
}
process.exit();

/** @returns the exit code of the first service that ends by itself */
async function runServices() {
  const log = pretty({ colorize: process.stdout.isTTY, ignore: 'pid,hostname', singleLine: true });
  const running = [];
  const lines = [];
  for (const { name, port, path } of services) {
    const databaseUrl = await ensureDatabase(server.url, name);
    const env = { CORS_ORIGIN: 'http://localhost:*', PORT: `${port}`, ...process.env, DATABASE_URL: databaseUrl };
    const child = spawn(
      process.execPath,
      [
        `--import=${join(import.meta.dirname, 'end-with-launcher.ts')}`,
        ...(flags.watch ? ['--watch', '--watch-preserve-output'] : []),
        join(workspace, 'apps', name, flags.watch ? 'src/main.ts' : 'dist/main.js'),
      ],
      // A group of its own: Ctrl-C reaches the launcher alone, which then stops the services before the database.
      { env, stdio: ['pipe', 'pipe', 'inherit'], detached: true },
    );
    child.stdout.pipe(log, { end: false });
    children.push(child);
    running.push(once(child, 'exit').then(([code]: (number | null)[]) => code ?? 1));
    lines.push({ service: name, url: `http://localhost:${env.PORT}`, path, database: databaseUrl });
  }
  const ended = Promise.race(running);
  await Promise.race([ended, Promise.all(lines.map(({ url }) => ready(`${url}/readyz`)))]);
  if (children.every((child) => child.exitCode === null)) {
    for (const { service, url, path, database } of lines)
      console.log(`${service}\n  API       ${url}${path}\n  database  ${database}`);
    console.log('Ctrl-C stops everything; the data stay.');
  }
  return ended;
}

async function ready(url: string) {
  while (!stopping) {
    const isReady = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    await sleep(50);
  }
}

async function stopChild(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
