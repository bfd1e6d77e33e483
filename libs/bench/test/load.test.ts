import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { autocannon, findLoadGenerator } from '../src/load.ts';
import type { RequestKind } from '../src/scenarios.ts';
import { parseWrk } from '../src/wrk.ts';

const requests: RequestKind[] = [
  { method: 'GET', path: ['/things/', { from: 1, to: 3 }], share: 75 },
  { method: 'PUT', path: ['/things'], body: ['{"name":"', { oneOf: ['one', 'other'] }, '"}'], key: ['key'], share: 25 },
];

let directory: string;
let server: Server;
let url: string;
let status: number;
let seen: Map<string, number>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bench-test-'));
  server = createServer((request, response) => {
    void (async () => {
      const body = request.method === 'PUT' ? JSON.stringify(await json(request)) : '';
      const key = String(request.headers['idempotency-key'] ?? '');
      const what = `${request.method} ${request.url} ${body} ${key}`.trim();
      seen.set(what, (seen.get(what) ?? 0) + 1);
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  status = 200;
  seen = new Map();
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await rm(directory, { recursive: true });
});

// Where wrk is not installed, both are autocannon.
describe.each([
  ['wrk', () => findLoadGenerator(directory)],
  ['autocannon', () => Promise.resolve(autocannon)],
] as const)('The load by %s', (_, find) => {
  test('is of the requests that are asked for, in their shares, and says how they went', async () => {
    const generator = await find();
    // A busy machine needs longer for requests of each kind.
    let result = await generator.run({ url, requests, connections: 2, seconds: 0.5 });
    for (let seconds = 1; result.requests < 200; seconds *= 2) {
      seen = new Map();
      result = await generator.run({ url, requests, connections: 2, seconds });
    }
    expect([...seen.keys()].sort()).toEqual([
      'GET /things/1',
      'GET /things/2',
      'GET /things/3',
      'PUT /things {"name":"one"} key',
      'PUT /things {"name":"other"} key',
    ]);
    const count = (method: string) =>
      [...seen].filter(([what]) => what.startsWith(method)).reduce((sum, [, times]) => sum + times, 0);
    expect(count('GET') / count('PUT')).toBeGreaterThan(2);
    expect(count('GET') / count('PUT')).toBeLessThan(4.5);
    expect(result.failed).toBe(0);
    expect(result.perSecond).toBeGreaterThan(0);
    expect(result.p99Ms).toBeGreaterThanOrEqual(result.p50Ms);
  });

  test('counts requests that are refused', async () => {
    status = 503;
    const result = await (await find()).run({ url, requests, connections: 2, seconds: 0.3 });
    expect(result.failed).toBeGreaterThan(0);
  });
});

test('The result of wrk is the last line that it prints', () => {
  const output = `Running 1h test @ http://127.0.0.1:1
  2 threads and 64 connections
Requests/sec:  50000.00

{"requests":25000,"seconds":0.500000,"p50Ms":1.210,"p99Ms":3.450,"failed":0}
`;
  expect(parseWrk(output)).toEqual({ requests: 25_000, perSecond: 50_000, p50Ms: 1.21, p99Ms: 3.45, failed: 0 });
});
