import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { send, unlike, withMargin } from '@rest-services/testing';
import { openSocket } from '../test/http.ts';
import { openList } from '../test/open-list.ts';
import { insertNotes, notes } from '../test/process/notes-process.ts';

// Timeouts of several seconds.

test('A database that does not come up: retries, then exit code 1 and a log line', async () => {
  const DATABASE_URL = `postgres://notes:pa55word@127.0.0.1:${await freePort()}/notes`;
  for (const { ended, log } of [notes.start({ DATABASE_URL }), notes.start({ DATABASE_URL }, 'migrate')]) {
    expect(await ended).toEqual({ code: 1, errors: '' });
    const lines = log.map(({ msg }) => msg);
    expect(lines.slice(0, 2)).toEqual(['database is not up yet', 'database is not up yet']);
    expect(lines.at(-1)).toBe('cannot migrate the database');
    expect(JSON.stringify(log)).not.toContain('pa55word');
  }
});

/** Sends `start`, then a byte each half second. @returns all that the service sends until it closes the connection */
async function answerTo(url: string, start: string) {
  // The client sends more after the service has closed the connection.
  const socket = openSocket(url)
    .setEncoding('utf8')
    .on('error', () => undefined);
  let received = '';
  socket.on('data', (data: string) => (received += data)).write(start);
  const trickle = setInterval(() => socket.write('a'), 500);
  await once(socket, 'close');
  clearInterval(trickle);
  return received;
}

test('A request that does not arrive in time gets 408, and one line in the log', async () => {
  const service = notes.start();
  const url = await service.listening();
  const head = 'POST /notes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
  const length = 'Content-Length: 100\r\n\r\n';
  const slow = [`${head}X-Slow: `, `GET /livez HTTP/1.1\r\nHost: a\r\n\r\n${head}`, head + length];
  const refused = head.replace('notes', 'nowhere') + length;
  const answers = await Promise.all([...slow, refused].map((start) => answerTo(url, start)));
  const statuses = answers.map((answer) => answer.match(/HTTP\/1\.1 \d+/g)?.map((line) => line.slice(9)));
  // The client would take a second response for that to its next request.
  expect(statuses).toEqual([['408'], ['200', '408'], ['408'], ['404']]);
  service.child.kill('SIGTERM');
  await service.ended;
  const lines = service.log.filter(({ msg, url }) => msg === 'request' && url !== '/nowhere');
  // A request without its headers has no method and no URL.
  const [unread, read] = [{ status: 408 }, { status: 408, method: 'POST', url: '/notes', reqId: expect.any(String) }];
  expect(lines).toMatchObject([unread, unread, read]);
});

test('SIGTERM closes stalled readers and connections without a request, and exits with 0 in 10 s', async () => {
  const service = notes.start({ SHUTDOWN_DELAY_MS: '3000' });
  const url = await service.listening();
  await insertNotes(300_000);
  const readers = await Promise.all(Array.from({ length: 5 }, () => openList(`${url}/notes?limit=300000`)));
  const signalledAt = performance.now();
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  const [silent, halfSent] = [openSocket(url), openSocket(url)];
  halfSent.write('GET /notes HTTP/1.1\r\nHost:');
  // After 5 s, it would be a 408.
  expect(await text(silent)).toBe('');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
  expect(performance.now() - signalledAt).toBeLessThan(withMargin(10_000));
  expect(service.log.filter(({ aborted }) => aborted)).toHaveLength(readers.length);
  [halfSent, ...readers].forEach((each) => each.on('error', () => undefined).destroy());
});

test('Without a file descriptor for a further connection, requests use those that are open', async () => {
  const { child, listening, logged } = notes.start();
  const url = await listening();
  const agent = new Agent({ keepAlive: true });
  const sendMany = (path: string, body = { title: 'a' }) =>
    Promise.all(Array.from({ length: 40 }, (_, n) => send(url, n % 2 ? { method: 'POST', path, body } : path, agent)));
  await sendMany('/nowhere');
  await send(url, '/notes', agent);
  execFileSync('prlimit', [`--pid=${child.pid}`, '--nofile=1:']);
  // For some seconds, in which all that is measured now and then is measured.
  for (const start = performance.now(); performance.now() - start < 3_000;)
    expect(unlike(await sendMany('/notes'), 200, 201, 503)).toEqual([]);
  await logged(({ err }) => (err as { code?: string } | undefined)?.code === 'EMFILE');
  agent.destroy();
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all!.some(({ family }) => family === 'IPv6'));

test.each(['', '0.0.0.0', ...(hasIpv6 ? ['::', '::1'] : [])])(
  '`main.js health` with HOST=%s exits with 0 while the service responds, and with 1 otherwise',
  async (HOST) => {
    const service = notes.start({ HOST });
    const { port } = new URL(await service.listening());
    // It reads no other settings.
    const health = () => notes.start({ HOST, PORT: port, DATABASE_URL: '' }, 'health').ended;
    expect(await health()).toEqual({ code: 0, errors: '' });
    service.child.kill('SIGSTOP');
    expect(await health()).toEqual({ code: 1, errors: '' });
    service.child.kill('SIGKILL');
    await service.ended;
    expect(await health()).toEqual({ code: 1, errors: '' });
  },
);
