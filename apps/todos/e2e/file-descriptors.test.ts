import { execFileSync } from 'node:child_process';
import { Agent } from 'node:http';
import { expect, test } from '@jest/globals';
import { processesOf, send } from '@rest-services/testing';

const todos = processesOf('dist/main.js');

test('Without a file descriptor, files get 500, until there is one', async () => {
  const { child, listening } = todos.start({ NODE_ENV: 'production' });
  const url = await listening();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const allow = (descriptors: number) => execFileSync('prlimit', [`--pid=${child.pid}`, `--nofile=${descriptors}:`]);
  const paths = ['/', '/todos', '/sw.js', '/livez'];
  const statuses = () => Promise.all(paths.map(async (path) => (await send(url, path, agent)).status));
  await send(url, '/livez', agent);
  allow(1);
  expect(await statuses()).toEqual([500, 500, 500, 200]);
  allow(1_024);
  expect(await statuses()).toEqual([200, 200, 200, 200]);
  agent.destroy();
});
