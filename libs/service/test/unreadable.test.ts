import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';
import { sql } from 'kysely';
import { openSocket, scrape } from './http.ts';
import { notesMain } from './notes/bundled.ts';

// Data that Node.js cannot parse as a request or as a body. Each response has one line in the log.

// With a larger limit for headers than that of the service itself.
const service = await startService(notesMain(), { NODE_OPTIONS: '--max-http-header-size=65536' });

let marks = 0;

/** Sends each part after the response to the one before. @returns all that the service sends, and the statuses that it logs */
async function exchanged(...parts: string[]) {
  const before = service.log.length;
  const socket = openSocket(service.url).setEncoding('utf8');
  const closed = once(socket, 'close');
  let received = '';
  socket.on('error', () => undefined).on('data', (data: string) => (received += data));
  for (const part of parts) {
    socket.write(part);
    await Promise.race([once(socket, 'data'), closed]);
  }
  await closed;
  const mark = `/nowhere/${(marks += 1)}`;
  await (await fetch(service.url + mark)).text();
  await service.logged(({ url }) => url === mark);
  const lines = service.log.slice(before).filter(({ msg, url }) => msg === 'request' && url !== mark);
  const statuses = Array.from(received.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status));
  return { received, statuses, logged: lines.map(({ status }) => status) };
}

const json = 'content-type: application/json\r\n';
const host = `host: notes\r\n${json}`;
const chunk = 'transfer-encoding: chunked\r\n\r\n1\r\n{\r\n';
const noChunk = 'no length\r\n';
const get = 'GET /livez HTTP/1.1\r\nhost: notes\r\n';

test.each([
  ['no HTTP', ['nonsense\r\n\r\n'], [400]],
  ['no HTTP after a response', [`${get}\r\n`, 'nonsense\r\n\r\n'], [200, 400]],
  ['another method', ['BREW / HTTP/1.1\r\nhost: a\r\n\r\n'], [400]],
  ['HTTP/2', ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'], [400]],
  ['a URL that is not one', ['GET http:// HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'], [400]],
  ['a path that can not be decoded', ['GET /%zz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'], [400]],
  ['a request without Host', ['GET /nowhere HTTP/1.1\r\nconnection: close\r\n\r\n'], [400]],
  ['an unknown expectation', [`${get}expect: a\r\nconnection: close\r\n\r\n`], [200]],
  ['a header without an end', [`${get}a: ${'a'.repeat(20_000)}`], [431]],
  ['a path that is too long', [`GET /notes/${'1'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`], [431]],
  ['a malformed chunk', [`POST /notes HTTP/1.1\r\n${host}${chunk}${noChunk}`], [400]],
  ['a malformed chunk of no route', [`POST /nowhere HTTP/1.1\r\n${host}${chunk}`, noChunk], [404]],
  ['a malformed chunk of a read', [`GET /livez HTTP/1.1\r\n${host}${chunk}`, noChunk], [200]],
  ['an offer of another protocol', [`${get}upgrade: websocket\r\nconnection: upgrade, close\r\n\r\n`], [200]],
  ['data after Connection: close', [`${get}connection: close\r\n\r\nnonsense\r\n\r\n`], [200]],
])('%s: %j gets one response, in JSON, and one line in the log', async (_, parts, expected) => {
  const { received, statuses, logged } = await exchanged(...parts);
  // Probes are not in the log.
  expect([statuses, logged]).toEqual([expected, expected.filter((status) => status !== 200)]);
  const [head, body] = received.slice(received.lastIndexOf('HTTP/1.1')).split('\r\n\r\n');
  expect(head).toMatch(/^x-content-type-options: nosniff/im);
  expect(JSON.parse(body!)).toEqual({ message: expect.any(String) });
});

test('data that is not HTTP is counted, and logged with its error and the address of its client', async () => {
  const counted = async () => (await scrape(service.url)).get('http_refused_total{status="400"}') ?? 0;
  const before = await counted();
  await exchanged('nonsense\r\n\r\n');
  expect(await counted()).toBe(before + 1);
  const line = { status: 400, code: 'HPE_INVALID_METHOD', ip: '127.0.0.1' };
  expect(service.log).toContainEqual(expect.objectContaining(line));
});

test('half of a request gets 400, and one line in the log', async () => {
  const half = `POST /notes?half HTTP/1.1\r\n${host}content-length: 100\r\n\r\n{`;
  const socket = openSocket(service.url).end(half);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 .*\{"message":"The request is not valid HTTP"\}$/s);
  const line = await service.logged(({ url }) => url === '/notes?half');
  expect(line).toMatchObject({ method: 'POST', status: 400 });
});

test('data that is no request is not answered in the middle of a long list', async () => {
  await sql`insert into note (title) select repeat('x', 150) from generate_series(1, 20000)`.execute(service.db);
  const { received, statuses } = await exchanged(`GET /notes?limit=20000 HTTP/1.1\r\n${host}\r\n`, 'nonsense\r\n\r\n');
  expect(statuses).toEqual([200]);
  expect(received.match(/"title"/g)).toHaveLength(20_000);
  expect(received).toMatch(/\]\r\n0\r\n\r\n$/);
});
