// The local stack: `npm start` runs every service on one PostgreSQL, a database each; `npm start -- NAME …` runs some.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { services, type Service } from '@rest-services/workspace';
import pretty from 'pino-pretty';
import { startCluster } from '../cluster.ts';
import { ensureDatabase } from '../databases.ts';
import { children, restartOnChange, startNode, stopChild, workspace } from './children.ts';
import { checkPlaces, inUrl, isListening, placeOf, readHost } from './places.ts';

/** Vite's own default. */
const CLIENT_PORT = 5173;

let isStopping = false;

try {
  const all = services();
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { watch: { type: 'boolean', default: false }, inspect: { type: 'boolean', default: false } },
  });
  const unknown = positionals.filter((name) => !all.some((service) => service.name === name));
  if (unknown.length > 0)
    throw new Error(`There is no service ${unknown.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}.`);
  const chosen = positionals.length > 0 ? all.filter(({ name }) => positionals.includes(name)) : all;
  process.exitCode = await run(chosen, values);
} catch (error) {
  const { message, code } = error as NodeJS.ErrnoException;
  // Connections to several addresses fail with a code and no message.
  console.error(`Cannot start: ${message || code}`);
  process.exitCode = 1;
}
process.exit();

/** Runs services until a signal, or until one of them ends. @returns the exit code */
async function run(chosen: Service[], { watch, inspect }: { watch: boolean; inspect: boolean }) {
  const isAlone = chosen.length === 1;
  const fromSources = watch || inspect;
  const { host, isIgnored } = readHost();
  if (isIgnored)
    console.warn(`HOST is ${process.env.HOST}, which is not an IP address: the services listen on ${host}.`);
  if (!isAlone && process.env.PORT)
    console.warn('PORT is that of a service alone. ITEMS_PORT and the like are those of several.');
  const places = chosen.map(({ name, localPort }) => placeOf(name, localPort, isAlone));
  const clientPlaces = chosen.flatMap(({ client }) => (client && fromSources ? placeOf(client, CLIENT_PORT) : []));
  await checkPlaces([...places, ...clientPlaces], host);
  if (!fromSources && !isBuilt(chosen)) return 1;

  // Takes several signals as one, because npm forwards a Ctrl-C that the terminal has already sent to all processes. SIGHUP says
  // that the terminal's window is closed.
  const stopSignal = new Promise<number>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve(0));
  });
  void stopSignal.then(() => (isStopping = true));
  const { DATABASE_URL } = process.env;
  if (DATABASE_URL && !/^\s*postgres(ql)?:/.test(DATABASE_URL))
    throw new Error('DATABASE_URL must be a URL such as postgres://USER:PASSWORD@HOST:PORT/DATABASE');
  const server = DATABASE_URL
    ? { url: DATABASE_URL, ended: () => new Promise<void>(() => undefined), stop: () => Promise.resolve() }
    : await startCluster(join(workspace, '.data', 'postgres'), { durable: true });
  try {
    return await Promise.race([stopSignal, serve(), reportEndOfServer()]);
  } finally {
    isStopping = true;
    await Promise.all(children.map(stopChild));
    await server.stop();
  }

  async function serve() {
    const running = await Promise.all(chosen.map(startService));
    const ended = Promise.race(running.map(reportEnd));
    await Promise.race([ended, Promise.all(running.map(({ listening }) => listening))]);
    // The services' own lines come a moment later.
    await sleep(50);
    if (!isStopping && children.every((child) => child.exitCode === null)) console.log(summaryOf(running));
    return ended;
  }

  async function reportEndOfServer() {
    await server.ended();
    if (!isStopping) console.error('PostgreSQL has ended, and the services are stopped with it.');
    return 1;
  }

  /** @returns the exit code of a service that ends by itself */
  async function reportEnd({ name, exit }: { name: string; exit: Promise<number> }) {
    const code = await exit;
    if (!isStopping) console.error(`${name} has ended by itself, and the others are stopped with it.`);
    return code;
  }

  async function startService({ name, path, client }: Service, index: number) {
    // The built pages are served in production mode; from sources they come from Vite. A page from elsewhere must not change the data.
    const chosenHere = {
      CORS_ORIGIN: 'http://localhost:*',
      ...(client && !fromSources ? { NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' } : {}),
    };
    const { port } = places[index]!;
    const database = await ensureDatabase(server.url, name).catch((error: unknown) => {
      const { message, code } = error as NodeJS.ErrnoException;
      throw new Error(`${DATABASE_URL ? 'The server at DATABASE_URL' : 'PostgreSQL'} refuses: ${message || code}`);
    });
    const settings = {
      // Otherwise, they would replace the meaning of the mode that the environment chooses.
      ...(process.env.NODE_ENV === undefined ? chosenHere : {}),
      ...process.env,
      ...{ HOST: host, PORT: `${port}`, DATABASE_URL: database },
      // Empty counts as not set: another server's would migrate that one.
      ...{ DATABASE_MIGRATION_URL: '', DATABASE_MIGRATION_URL_FILE: '' },
    };
    const main = join(workspace, 'apps', name, fromSources ? 'src/main.ts' : 'dist/main.js');
    const start = () => {
      const child = startNode([...(inspect ? ['--inspect'] : []), main], { env: settings });
      const format = { ignore: 'pid,hostname', singleLine: true, messageFormat: `${name}: {msg}` };
      child.stdout.pipe(pretty({ ...format, colorize: process.stdout.isTTY }), { end: false });
      return child;
    };
    const url = `http://${inUrl(host)}:${port}`;
    const pages = client && (fromSources ? startClient(url) : settings.NODE_ENV === 'production' ? url : undefined);
    const exit = watch
      ? restartOnChange(name, start, () => isStopping).then(() => 0)
      : once(start(), 'exit').then(([code]: (number | null)[]) => code ?? 1);
    return { name, database, api: url + path, docs: `${url}/docs`, pages, exit, listening: listening(port) };
  }

  /** Serves the pages from their sources, with hot reload, on the API of a running service. */
  function startClient(service: string) {
    const [{ app, port }] = clientPlaces as [(typeof clientPlaces)[0]];
    const vite = join(workspace, 'node_modules', 'vite', 'bin', 'vite.js');
    const child = startNode([vite, `--host=${host}`, `--port=${port}`, '--strictPort', '--logLevel=warn'], {
      cwd: join(workspace, 'apps', app),
      env: { ...process.env, TODOS_URL: service },
    });
    child.stdout.pipe(process.stdout, { end: false });
    return `http://${inUrl(host)}:${port}`;
  }

  /** Its log need not tell: `LOG_LEVEL` may leave that line out. */
  async function listening(port: number) {
    while (!(await isListening(port, host))) await sleep(50);
  }
}

/** Builds services. Nx takes from its cache what has not changed. */
function isBuilt(chosen: Service[]) {
  const nx = join(workspace, 'node_modules', '.bin', 'nx');
  const args = [nx, 'run-many', '-t', 'build', '-p', chosen.map(({ name }) => name).join()];
  return spawnSync(process.execPath, args, { cwd: workspace, stdio: 'inherit' }).status === 0;
}

interface Running {
  name: string;
  database: string;
  api: string;
  docs: string;
  pages?: string | undefined;
}

/** What to open, the link to begin with last. */
function summaryOf(running: Running[]) {
  const rows = [
    ['', 'API', 'to try it', 'database'],
    ...running.map(({ name, api, docs, database }) => [name, api, docs, database]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)) + 2);
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(''));
  const first = running.find(({ pages }) => pages)?.pages ?? running[0]!.docs;
  return ['', ...lines, '', 'Ctrl-C stops everything; the data stay.', `Open ${first}`].join('\n');
}
