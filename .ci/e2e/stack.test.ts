import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort, startCluster, type Cluster } from '@rest-services/local-postgres';

// It runs an app, on which no lib may depend: as one of local-postgres, this test would not run after a change of the app.

const stack = join(import.meta.dirname, '../../libs/local-postgres/src/stack.ts');

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
  for await (const [chunk] of on(stdout, 'data')) if (String(chunk).includes('Ctrl-C')) break;
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
      errors: `Cannot start: Port ${port}, where items would listen, is taken by another program.\n`,
    });
    server.close();
  });

  test('allows any origin in development mode, and those of localhost where it chooses production mode', async () => {
    expect(await allowedOrigins({})).toEqual(['*', '*']);
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
