import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { freePort, startCluster, type Cluster } from '@rest-services/local-postgres';
import { expectReadme } from '@rest-services/testing';
import { services } from '@rest-services/workspace';
import { plainEnvironment } from './copy.ts';

// What a newcomer tries first: the lines of each README after both ways of starting.

const workspace = join(import.meta.dirname, '../../..');
const registered = services();

let directory: string;
let cluster: Cluster;
let stop: (() => Promise<void>) | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'newcomer-'));
  cluster = await startCluster(directory, { durable: false });
});
afterEach(async () => {
  await stop?.();
  await cluster.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Types `npm start`, on empty databases and free ports. @returns the URLs of the services by name */
async function start(...names: string[]) {
  const ports = await Promise.all(registered.map(() => freePort()));
  const variables = registered.map(({ name }, n) => [`${name.toUpperCase().replaceAll('-', '_')}_PORT`, `${ports[n]}`]);
  const child = spawn('npm', ['start', ...(names.length > 0 ? ['--', ...names] : [])], {
    cwd: workspace,
    env: { ...plainEnvironment, ...(Object.fromEntries(variables) as object), DATABASE_URL: cluster.url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  stop = async () => {
    stop = undefined;
    child.kill('SIGINT');
    await ended;
  };
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    output += String(chunk);
    if (output.includes('\nOpen ')) break;
  }
  return new Map(registered.map(({ name }, n) => [name, `http://localhost:${ports[n]}`]));
}

async function expectLines(name: string, url: string) {
  const file = join(workspace, 'apps', name, 'README.md');
  const { localPort } = registered.find((service) => service.name === name)!;
  const ports = (await readFile(file, 'utf8')).matchAll(/localhost:(\d+)/g);
  expect([name, ...new Set(Array.from(ports, ([, port]) => port))]).toEqual([name, `${localPort}`]);
  await expectReadme(file, url);
}

test.each(registered)('npm start -- $name: each line of its README gets the response below it', async ({ name }) => {
  await expectLines(name, (await start(name)).get(name)!);
});

test('npm start: each line of each README gets the response below it', async () => {
  for (const [name, url] of await start()) await expectLines(name, url);
});
