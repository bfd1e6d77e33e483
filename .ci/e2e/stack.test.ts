import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort, startCluster, type Cluster } from '@rest-services/local-postgres';

// It runs an app, on which no lib may depend: as one of local-postgres, this test would not run after a change of the app.

const workspace = join(import.meta.dirname, '../..');
const stack = join(workspace, 'libs/local-postgres/src/stack/stack.ts');

let directory: string;
let cluster: Cluster;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stack-test-'));
  cluster = await startCluster(directory, { durable: false });
});
afterAll(async () => {
  await cluster.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Runs one service; by default from its sources, which need not be built. */
function start(port: number, environment: NodeJS.ProcessEnv = {}, args = ['--watch', 'items']) {
  const child = spawn(process.execPath, [stack, ...args], {
    env: { PATH: process.env.PATH, DATABASE_URL: cluster.url, PORT: `${port}`, LOG_LEVEL: 'error', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const errors = text(child.stderr);
  const ended = once(child, 'close').then(async ([code]: (number | null)[]) => ({
    ...{ code, output },
    errors: await errors,
  }));
  return { child, ended };
}

async function isReady({ stdout }: ReturnType<typeof start>['child']) {
  for await (const [chunk] of on(stdout, 'data', { close: ['end'] })) if (String(chunk).includes('Ctrl-C')) return;
  throw new Error('The stack has ended');
}

/** Access-Control-Allow-Origin, in this order, for a local page and one from elsewhere. */
async function allowedOrigins(environment: NodeJS.ProcessEnv, args?: string[]) {
  const port = await freePort();
  const { child, ended } = start(port, environment, args);
  await isReady(child);
  const origins = ['http://localhost:4200', 'https://example.org'];
  const allowed = origins.map(async (origin) => {
    const { headers } = await fetch(`http://localhost:${port}/livez`, { headers: { origin } });
    return headers.get('access-control-allow-origin');
  });
  const result = await Promise.all(allowed);
  child.kill('SIGINT');
  await ended;
  return result;
}

describe('The local stack', () => {
  test('says where a service is once it listens, whatever it logs, and ends with 0 when it is told to stop', async () => {
    const port = await freePort();
    const { child, ended } = start(port);
    await isReady(child);
    expect((await fetch(`http://localhost:${port}/livez`)).status).toBe(200);
    child.kill('SIGINT');
    const { code, output } = await ended;
    expect(output).toContain(`http://localhost:${port}/v1/items`);
    expect(code).toBe(0);
  });

  test('starts nothing where another program listens, and names the port', async () => {
    const port = await freePort();
    const server = createServer().listen(port, 'localhost');
    await once(server, 'listening');
    const { ended } = start(port);
    expect(await ended).toEqual({
      code: 1,
      output: '',
      errors: `Cannot start: Port ${port}, where items would listen, is taken by another program: ITEMS_PORT chooses another one.\n`,
    });
    server.close();
  });

  test('names ports that are taken, or that two services would have, before it builds', async () => {
    const [taken, shared] = [await freePort(), await freePort()];
    const server = createServer().listen(taken, '127.0.0.1');
    await once(server, 'listening');
    const ports = { ITEMS_PORT: `${taken}`, TODOS_PORT: `${shared}`, TUTORIALS_PORT: `${shared}` };
    const { code, output, errors } = await start(0, { PORT: '', ...ports }, ['items', 'todos', 'tutorials']).ended;
    server.close();
    expect([code, output]).toEqual([1, '']);
    expect(errors).toBe(
      `Cannot start: Port ${taken}, where items would listen, is taken by another program: ITEMS_PORT chooses another one.\n` +
        `Port ${shared} is that of todos and tutorials: TODOS_PORT or TUTORIALS_PORT chooses another one.\n`,
    );
    const wrong = await start(0, { PORT: '', ITEMS_PORT: '70000' }, []).ended;
    expect(wrong.errors).toBe('Cannot start: ITEMS_PORT must be a TCP port, 1 to 65535; it is "70000"\n');
  });

  test('listens on 127.0.0.1, or on the IP address in HOST, and says that it ignores a name there', async () => {
    /** Whether another address of the loopback network is served, and what was said. */
    const isOpen = async (HOST: string) => {
      const port = await freePort();
      const { child, ended } = start(port, { HOST });
      await isReady(child);
      const isServed = (address: string) =>
        fetch(`http://${address}:${port}/livez`).then(
          () => true,
          () => false,
        );
      const served = [await isServed('127.0.0.1'), await isServed('127.0.0.2')];
      child.kill('SIGINT');
      return { served, errors: (await ended).errors };
    };
    expect(await isOpen('')).toEqual({ served: [true, false], errors: '' });
    expect(await isOpen('127.0.0.2')).toEqual({ served: [false, true], errors: '' });
    expect(await isOpen('x86_64-conda-linux-gnu')).toEqual({
      served: [true, false],
      errors: 'HOST is x86_64-conda-linux-gnu, which is not an IP address: the services listen on 127.0.0.1.\n',
    });
    const { errors } = await start(await freePort(), { HOST: '192.0.2.1' }).ended;
    expect(errors).toBe('Cannot start: HOST is 192.0.2.1, which is not an address of this machine.\n');
  });

  test('restarts a service from its sources at each change of a file, also one that is renamed into its place', async () => {
    const port = await freePort();
    const { child, ended } = start(port, { LOG_LEVEL: 'info' });
    const file = join(workspace, 'libs/pagination/src/index.ts');
    const [source, draft] = [await readFile(file), join(workspace, 'libs/pagination/src/draft')];
    const listening = on(child.stdout, 'data', { close: ['end'] });
    /** Of a process that started after the one with this id. */
    let known: number | undefined;
    const started = async () => {
      for (;;) {
        if ((await listening.next()).done) throw new Error('The stack has ended');
        const metrics = await fetch(`http://localhost:${port}/metrics`).catch(() => undefined);
        const id = metrics && Number(/^process_start_time_seconds ([\d.e+]+)$/m.exec(await metrics.text())?.[1]);
        if (id && id !== known) return (known = id);
      }
    };
    await started();
    for (let turn = 0; turn < 3; turn += 1) {
      await copyFile(file, draft);
      await rename(draft, file);
      await started();
    }
    expect(await readFile(file)).toEqual(source);
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });

  test('demo-data fills the services that run, wherever they do, and names the others', async () => {
    const port = await freePort();
    const { child, ended } = start(port, {}, ['--watch', 'tutorials']);
    await isReady(child);
    const fill = async (environment: NodeJS.ProcessEnv) => {
      const file = join(dirname(stack), 'demo-data.ts');
      const env = { PATH: process.env.PATH, ...environment };
      const filling = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      return Promise.all([once(filling, 'exit').then(([code]) => code as number), text(filling.stdout)]);
    };
    const [code, output] = await fill({ TUTORIALS_PORT: `${port}` });
    expect([code, output]).toEqual([0, expect.stringMatching(/\d+ records created/)]);
    const { length } = (await (await fetch(`http://localhost:${port}/api/tutorials`)).json()) as unknown[];
    expect(length).toBeGreaterThan(0);
    const [again, nothing] = await fill({ PORT: `${port}` });
    expect([again, nothing]).toEqual([0, expect.stringMatching(/^0 records created/m)]);
    child.kill('SIGINT');
    await ended;
  });

  test('allows the origins of localhost, or those of the mode that NODE_ENV chooses', async () => {
    expect(await allowedOrigins({})).toEqual(['http://localhost:4200', null]);
    expect(await allowedOrigins({ NODE_ENV: 'development' }, ['todos'])).toEqual(['*', '*']);
    expect(await allowedOrigins({ NODE_ENV: 'production' }, ['todos'])).toEqual([null, null]);
    expect(await allowedOrigins({}, ['todos'])).toEqual(['http://localhost:4200', null]);
  });

  test('migrates its own database, whatever DATABASE_MIGRATION_URL_FILE names', async () => {
    const file = join(directory, 'migration-url');
    await writeFile(file, cluster.url);
    const port = await freePort();
    const { child, ended } = start(port, { DATABASE_MIGRATION_URL_FILE: file });
    await isReady(child);
    expect((await fetch(`http://localhost:${port}/readyz`)).status).toBe(200);
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });
});
