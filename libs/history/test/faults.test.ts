import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { Random } from '../src/clients/random.ts';
import { makeSchedule } from '../src/system/faults.ts';
import { openProxy, type Cut } from '../src/system/tcp-proxy.ts';

test('The faults follow from the seed alone, and a few seeds have each kind', () => {
  const schedules = () => Array.from({ length: 10 }, (_, seed) => makeSchedule(new Random(seed), 20, 2));
  expect(schedules()).toEqual(schedules());
  expect(
    new Set(
      schedules()
        .flat(2)
        .map(({ kind }) => kind),
    ).size,
  ).toBe(6);
});

/** Sends a request, and a second one after the connection is armed. @returns the bytes that each side has received in all */
async function exchange(cut: Cut) {
  const requests: Promise<string>[] = [];
  const server = createServer((socket) => {
    requests.push(text(socket).catch(() => 'reset'));
    socket.on('data', () => socket.write('response'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await openProxy(() => (server.address() as AddressInfo).port);
  const client = connect(proxy.port, '127.0.0.1');
  const received: Buffer[] = [];
  client.on('data', (chunk: Buffer) => received.push(chunk));

  client.write('request');
  await once(client, 'data');
  proxy.cut(cut);
  client.write('request');
  await once(client, 'close');
  const request = await requests[0];
  await proxy.close();
  server.close();
  return `${request} ${Buffer.concat(received).toString()}`;
}

test.each([0, 1, 6])('A connection is closed %d bytes into a request or a response', async (bytes) => {
  expect(await exchange({ from: 'client', bytes })).toBe(`request${'request'.slice(0, bytes)} response`);
  expect(await exchange({ from: 'server', bytes })).toBe(`requestrequest response${'response'.slice(0, bytes)}`);
});
