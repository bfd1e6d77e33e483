import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { makeSchedule } from '../src/system/faults.ts';
import { Random } from '../src/clients/random.ts';
import { openProxy, type Cut } from '../src/system/tcp-proxy.ts';

describe('A schedule of faults', () => {
  test('follows from the seed alone', () => {
    const schedule = (seed: number) => makeSchedule(new Random(seed), 20, 2);
    expect(schedule(7)).toEqual(schedule(7));
    expect(schedule(7)).not.toEqual(schedule(8));
  });

  test('has each kind of fault in one of a few seeds', () => {
    const seeds = Array.from({ length: 10 }, (_, seed) => makeSchedule(new Random(seed), 20, 2));
    expect([...new Set(seeds.flat(2).map(({ kind }) => kind))].sort()).toEqual([
      'cut client',
      'cut database',
      'failover',
      'freeze primary',
      'freeze service',
      'freeze standby',
      'kill service',
      'restart primary',
    ]);
  });
});

describe('A proxy', () => {
  /** Sends a request, and a second one after the connection is armed. @returns the bytes that each side has received in all */
  async function exchange(cut?: Cut) {
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
    if (cut) proxy.cut(cut);
    client.write('request');
    if (cut) await once(client, 'close');
    else {
      await once(client, 'data');
      client.end();
    }
    const request = await requests[0];
    await proxy.close();
    server.close();
    return { request, response: Buffer.concat(received).toString() };
  }

  test('forwards both directions', async () => {
    expect(await exchange()).toEqual({ request: 'requestrequest', response: 'responseresponse' });
  });

  test('closes a connection after any byte of a request or a response', async () => {
    for (const bytes of [0, 1, 6]) {
      expect(await exchange({ from: 'client', bytes })).toEqual({
        request: `request${'request'.slice(0, bytes)}`,
        response: 'response',
      });
      expect(await exchange({ from: 'server', bytes })).toEqual({
        request: 'requestrequest',
        response: `response${'response'.slice(0, bytes)}`,
      });
    }
  });
});
