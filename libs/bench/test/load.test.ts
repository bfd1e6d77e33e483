import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { runLoad } from '../src/load.ts';
import type { Request } from '../src/scenarios.ts';

const testWithWrk = spawnSync('wrk').error ? test.skip : test;

/** Runs a load until the server has seen each of its requests. */
async function run(request: Request, kinds: number, status = 200) {
  const seen = new Set<string>();
  const server = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      seen.add([incoming.method, incoming.url, body, incoming.headers['idempotency-key']].join(' ').trim());
      response.writeHead(status).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const directory = await mkdtemp(join(tmpdir(), 'bench-test-'));
  try {
    // A busy machine needs longer.
    for (let seconds = 0.5; ; seconds *= 2) {
      const result = await runLoad({ url, request, connections: 2, seconds }, directory);
      if (seen.size >= kinds && result.requests > 0) return { seen: [...seen].sort(), result };
    }
  } finally {
    server.close();
    server.closeAllConnections();
    await rm(directory, { recursive: true });
  }
}

testWithWrk('The load draws each request anew, and tells how many there were', async () => {
  const { seen, result } = await run({ method: 'GET', path: ['/things/', { from: 1, to: 3 }] }, 3);
  expect(seen).toEqual(['GET /things/1', 'GET /things/2', 'GET /things/3']);
  expect(result).toMatchObject({ failed: 0, perSecond: expect.any(Number), p99Ms: expect.any(Number) });
});

testWithWrk('The load sends bodies and keys, and counts requests that are refused', async () => {
  const body = ['{"name":"', { oneOf: ['one', 'other'] }, '"}'];
  const { seen, result } = await run({ method: 'PUT', path: ['/things'], body, key: ['key'] }, 2, 503);
  expect(seen).toEqual(['PUT /things {"name":"one"} key', 'PUT /things {"name":"other"} key']);
  expect(result.failed).toBe(result.requests);
});
