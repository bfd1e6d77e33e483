// The local stack: `npm start` runs every service on one PostgreSQL, a database each; `npm start -- NAME …` runs some.
import { spawn, type ChildProcess } from 'node:child_process';
import { on, once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import pretty from 'pino-pretty';
import { startCluster } from './cluster.ts';
import { ensureDatabase } from './databases.ts';
import { services, type LocalService } from './services.ts';

const workspace = join(import.meta.dirname, '..', '..', '..');
const { watch, chosen } = readArguments();
const children: ChildProcess[] = [];
let isStopping = false;

// npm passes a Ctrl-C on that the terminal has sent to everybody already, so more than one signal is one wish.
const stopSignal = new Promise<number>((resolve) => {
  process.on('SIGINT', () => resolve(0));
  process.on('SIGTERM', () => resolve(0));
  // The terminal's window is closed.
  process.on('SIGHUP', () => resolve(0));
});

const server = process.env.DATABASE_URL
  ? { url: process.env.DATABASE_URL, stop: () => Promise.resolve() }
  : await startCluster(join(workspace, '.data', 'postgres'), { durable: true });
void stopSignal.then(() => (isStopping = true));
try {
  process.exitCode = await Promise.race([stopSignal, runServices()]);
} catch (error) {
  console.error(`Can not start: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  isStopping = true;
  await Promise.all(children.map(stopChild));
  await server.stop();
}
process.exit();

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { watch: { type: 'boolean', default: false } },
  });
  const unknown = positionals.filter((name) => !services.some((service) => service.name === name));
  if (unknown.length > 0) {
    console.error(
      `There is no service ${unknown.join(', ')}; there are ${services.map(({ name }) => name).join(', ')}`,
    );
    process.exit(1);
  }
  const some = services.filter(({ name }) => positionals.includes(name));
  return { watch: values.watch, chosen: some.length > 0 ? some : services };
}

/** @returns the exit code of the first service that ends by itself */
async function runServices() {
  const log = pretty({ colorize: process.stdout.isTTY, ignore: 'pid,hostname', singleLine: true });
  const running = await Promise.all(chosen.map((service) => startService(service, log)));
  const ended = Promise.race(running.map(({ exit }) => exit));
  await Promise.race([ended, Promise.all(running.map(({ isListening }) => isListening))]);
  if (!isStopping && children.every((child) => child.exitCode === null)) {
    const table = running.map(({ name, url, path, database }) => [
      name,
      { API: url + path, docs: `${url}/docs`, database },
    ]);
    console.table(Object.fromEntries(table));
    console.log('Ctrl-C stops everything; the data stay.');
  }
  return ended;
}

async function startService({ name, port, sharedPort, path, environment }: LocalService, log: NodeJS.WritableStream) {
  const database = await ensureDatabase(server.url, name);
  const isAlone = chosen.length === 1;
  const settings = {
    CORS_ORIGIN: 'http://localhost:*',
    PORT: `${port}`,
    ...environment,
    ...process.env,
    ...(isAlone ? {} : { PORT: `${sharedPort}` }),
    DATABASE_URL: database,
    // Empty counts as not set: another server's would migrate that one.
    DATABASE_MIGRATION_URL: '',
  };
  const child = spawn(
    process.execPath,
    [
      `--import=${join(import.meta.dirname, 'end-with-launcher.ts')}`,
      ...(watch ? ['--watch', '--watch-preserve-output'] : []),
      join(workspace, 'apps', name, watch ? 'src/main.ts' : 'dist/main.js'),
    ],
    // A group of its own: Ctrl-C reaches the launcher alone, which then stops the services before the database.
    { env: settings, stdio: ['pipe', 'pipe', 'inherit'], detached: true },
  );
  child.stdout.pipe(log, { end: false });
  children.push(child);
  const exit = once(child, 'exit').then(([code]: (number | null)[]) => code ?? 1);
  return { name, path, database, url: `http://localhost:${settings.PORT}`, exit, isListening: listening(child.stdout) };
}

/** Waits for the log line with which a service begins to listen. */
async function listening(output: Readable) {
  for await (const [chunk] of on(output, 'data')) if (String(chunk).includes('Server listening at')) return;
}

async function stopChild(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
