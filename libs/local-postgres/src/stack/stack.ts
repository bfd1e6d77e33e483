// The local stack: `npm start` runs every service on one PostgreSQL, a database each; `npm start -- NAME …` runs some.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { services, type Service } from '@rest-services/workspace';
import pretty from 'pino-pretty';
import { startCluster } from '../cluster.ts';
import { ensureDatabase } from '../databases.ts';
import { imageFlags } from '../image-environment.ts';
import { checkPlaces, inUrl, isListening, portAlone, portOf, readHost } from './places.ts';
import { restartOnChange } from './restart-on-change.ts';

const workspace = join(import.meta.dirname, '..', '..', '..', '..');

/** Vite's own default. */
const CLIENT_PORT = 5173;

/** Port of the first service's inspector, Node's own default. */
const INSPECTOR_PORT = 9229;

const LISTENING_ASKED_EVERY_MS = 50;

const all = services();
const { watch, inspect, chosen } = readArguments();
const fromSources = watch || inspect;
const isAlone = chosen.length === 1;
const { host, isIgnored } = readHost();
if (isIgnored) console.warn(`HOST is ${process.env.HOST}, which is not an IP address: the services listen on ${host}.`);
const places = await readPlaces().catch(cannotStart);
if (!fromSources) build();
const children: ChildProcess[] = [];
let isStopping = false;
let endedByItself: string | undefined;

// Takes several signals as one, because npm forwards a Ctrl-C that the terminal has already sent to all processes.
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
  console.error(`Cannot start: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  isStopping = true;
  await Promise.all(children.map(stopChild));
  await server.stop();
}
if (endedByItself) console.error(`${endedByItself} has ended by itself, and the others were stopped with it.`);
process.exit();

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { watch: { type: 'boolean', default: false }, inspect: { type: 'boolean', default: false } },
  });
  const unknown = positionals.filter((name) => !all.some((service) => service.name === name));
  if (unknown.length > 0) {
    console.error(`There is no service ${unknown.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}`);
    process.exit(1);
  }
  const some = all.filter(({ name }) => positionals.includes(name));
  return { ...values, chosen: some.length > 0 ? some : all };
}

/** Ports of the services that are started, and of their pages from sources, all free. */
async function readPlaces() {
  const servicePlaces = chosen.map(({ name, port, localPort }) => ({
    app: name,
    port: isAlone ? portAlone(name, port) : portOf(name, localPort),
  }));
  if (!isAlone && process.env.PORT)
    console.warn('PORT is that of a service alone. ITEMS_PORT and the like are those of several.');
  const clients = chosen.flatMap(({ client }) => (client && fromSources ? client : []));
  const wanted = [...servicePlaces, ...clients.map((app) => ({ app, port: portOf(app, CLIENT_PORT) }))];
  await checkPlaces(wanted, host);
  return new Map(wanted.map(({ app, port }) => [app, port]));
}

function cannotStart(error: unknown): never {
  console.error(`Cannot start: ${(error as Error).message}`);
  process.exit(1);
}

/** Builds what is started. Nx takes from its cache what has not changed. */
function build() {
  const nx = join(workspace, 'node_modules', '.bin', 'nx');
  const names = chosen.map(({ name }) => name).join();
  const { status } = spawnSync(process.execPath, [nx, 'run-many', '-t', 'build', '-p', names], {
    cwd: workspace,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

/** @returns the exit code of the first service that ends by itself */
async function runServices() {
  const running = await Promise.all(chosen.map(startService));
  const ended = Promise.race(
    running.map(async ({ name, exit }) => {
      const code = await exit;
      if (!isStopping) endedByItself = name;
      return code;
    }),
  );
  await Promise.race([ended, Promise.all(running.map(({ isListening }) => isListening))]);
  if (!isStopping && children.every((child) => child.exitCode === null)) {
    const table = running.map(({ name, url, path, pages }) => [
      name,
      { API: url + path, docs: `${url}/docs`, ...(pages && { pages }) },
    ]);
    console.table(Object.fromEntries(table));
    for (const { database } of running) console.log(database);
    console.log('Ctrl-C stops everything; the data stay.');
  }
  return ended;
}

async function startService({ name, path, client }: Service, index: number) {
  // The built pages are served in production mode; from sources they come from Vite. A page from elsewhere must not change the data.
  const chosenHere = {
    CORS_ORIGIN: 'http://localhost:*',
    ...(client && !fromSources ? { NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' } : {}),
  };
  const port = places.get(name)!;
  const settings = {
    // Otherwise, they would replace the meaning of the mode that the environment chooses.
    ...(process.env.NODE_ENV === undefined ? chosenHere : {}),
    ...process.env,
    ...{ HOST: host, PORT: `${port}` },
    DATABASE_URL: await ensureDatabase(server.url, name),
    // Empty counts as not set: another server's would migrate that one.
    ...{ DATABASE_MIGRATION_URL: '', DATABASE_MIGRATION_URL_FILE: '' },
  };
  const start = () => {
    const child = startNode(
      [
        ...imageFlags,
        ...(inspect ? [`--inspect=${INSPECTOR_PORT + index}`] : []),
        join(workspace, 'apps', name, fromSources ? 'src/main.ts' : 'dist/main.js'),
      ],
      { env: settings },
    );
    child.stdout.pipe(
      pretty({
        colorize: process.stdout.isTTY,
        ignore: 'pid,hostname',
        singleLine: true,
        messageFormat: `${name}: {msg}`,
      }),
      { end: false },
    );
    return child;
  };
  if (watch) restartOnChange(name, start, () => isStopping);
  const url = `http://${inUrl(host)}:${port}`;
  return {
    ...{ name, path, database: settings.DATABASE_URL, url },
    pages: client && (fromSources ? startClient(client, url) : settings.NODE_ENV === 'production' ? url : undefined),
    exit: watch ? stopSignal : exitCode(start()),
    isListening: listening(port),
  };
}

async function exitCode(child: ChildProcess) {
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

/** Serves the pages from their sources, with hot reload, on the API of a running service. */
function startClient(client: string, service: string) {
  const vite = join(workspace, 'node_modules', 'vite', 'bin', 'vite.js');
  const port = places.get(client)!;
  const child = startNode([vite, `--host=${host}`, `--port=${port}`, '--strictPort', '--logLevel=warn'], {
    cwd: join(workspace, 'apps', client),
    env: { ...process.env, TODOS_URL: service },
  });
  child.stdout.pipe(process.stdout, { end: false });
  return `http://${inUrl(host)}:${port}`;
}

function startNode(args: string[], options: { cwd?: string; env: NodeJS.ProcessEnv }) {
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

/** Its log need not tell: `LOG_LEVEL` may leave that line out. */
async function listening(port: number) {
  while (!(await isListening(port, inUrl(host)))) await sleep(LISTENING_ASKED_EVERY_MS);
}

async function stopChild(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
