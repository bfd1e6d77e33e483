import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { startProcess } from '@rest-services/testing';
import { trendsOf, type Sample } from '../src/soak/growth.ts';

const MAIN = join(import.meta.dirname, '../../../apps/items/dist/main.js');
const SOAK = join(import.meta.dirname, '../src/soak.ts');

let database: TestDatabase;
let service: ReturnType<typeof startProcess>;
let url: string;
beforeAll(async () => {
  database = await createTestDatabase();
  service = startProcess(MAIN, { DATABASE_URL: database.url });
  url = await service.listening();
});
afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.ended;
  await database.drop();
});

/** Runs one round of the command. */
const soak = (target: string) =>
  new Promise<{ code: number | string; output: string }>((resolve) => {
    const child = execFile(process.execPath, [SOAK, '--minutes', '0.01', '--url', target], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? child.exitCode!, output: stdout + stderr }),
    );
  });

const list = async () => (await fetch(`${url}/v1/items`)).json();

const write = (method: string, path: string, body: object) =>
  fetch(`${url}${path}`, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

test('npm run soak passes a sound service, and leaves the items as they were', async () => {
  await write('POST', '/v1/items', { title: 'Buy milk' });
  await write('PUT', '/v1/items/1', { status: 'Finished' });
  const before = await list();
  const { code, output } = await soak(url);
  expect(output).toMatch(/^round 1: [1-9]\d+ requests, 0 failed, .*PASS$/ms);
  expect(code).toBe(0);
  expect(await list()).toEqual(before);
});

const FORWARDED = ['content-type', 'x-request-id', 'if-match', 'idempotency-key'];
const RETURNED = ['x-request-id', 'x-total-count', 'etag'];
const some = (headers: IncomingHttpHeaders, names: string[]) =>
  Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])));

test('npm run soak fails a service that acknowledges deletes and does not make them', async () => {
  const proxy = createServer((request, response) => void forward(request, response));
  async function forward(request: IncomingMessage, response: ServerResponse) {
    const { method = '', headers, url: path } = request;
    const requestId = String(headers['x-request-id']);
    if (method === 'DELETE') {
      response.setHeader('x-request-id', requestId).end('{"message":"Item deleted successfully"}');
      return;
    }
    const body = method === 'GET' ? null : await text(request);
    const received = await fetch(`${url}${path}`, { method, headers: some(headers, FORWARDED), body });
    response.writeHead(received.status, some(Object.fromEntries(received.headers), RETURNED));
    response.end(await received.text());
  }
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { code, output } = await soak(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  proxy.close();
  expect(output).toMatch(/^FAIL$.*^not "items are linearizable".* DELETE /ms);
  expect(code).toBe(1);
});

test('Growth of memory or descriptors is a trend of many samples, not a step', () => {
  const samples = (memory: (minute: number) => number, descriptors = 20): Sample[] =>
    Array.from({ length: 40 }, (_, minute) => ({ minute, memoryBytes: memory(minute), descriptors }));
  const noisy = (minute: number) => 100e6 + (minute % 3) * 5e6;
  expect(trendsOf(samples(noisy)).memory.isGrowing).toBe(false);
  expect(trendsOf(samples((minute) => noisy(minute) + minute * 1e6)).memory.isGrowing).toBe(true);
  expect(trendsOf(samples((minute) => Math.min(minute, 9) * 1e6 + 90e6)).memory.isGrowing).toBe(false);
  expect(trendsOf(samples(noisy)).descriptors.isGrowing).toBe(false);
  const leaking = samples(noisy).map((sample) => ({ ...sample, descriptors: 20 + sample.minute }));
  expect(trendsOf(leaking).descriptors.isGrowing).toBe(true);
  expect(trendsOf(samples(noisy).slice(0, 5)).memory.isGrowing).toBeUndefined();
});
