import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import type { Answer } from './harness.ts';

type Send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

/** A service under test, as far as its refusals are concerned. */
export interface Refusing {
  service: () => { url: string; request: Send };
  /** Everything that is stored, to see that a refused request has left it alone. */
  stored: () => Promise<unknown[]>;
  /** The requests that take a body: method and path. */
  writes: () => readonly (readonly [method: string, path: string])[];
}

/**
 * Makes a function that sends a request which must be refused: with a 4xx and a message, and nothing stored or changed.
 */
export function refusals({ service, stored }: Pick<Refusing, 'service' | 'stored'>): Send {
  return async (...args) => {
    const before = await stored();
    const response = await service().request(...args);
    expect(response.body).toEqual({ message: expect.any(String) });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect(await stored()).toEqual(before);
    return response;
  };
}

/** Declares the tests of bodies that no service takes. */
export function testUnreadableBodies(refusing: Refusing) {
  const { service, writes } = refusing;
  const refused = refusals(refusing);

  describe('Bodies', () => {
    test.each(['{"a":', '{', 'a', "{'a':'b'}", '{"a":"b",}', '{"a":"b"}}', '\0', '{"a":"\n"}'])(
      'that are malformed JSON (%j) are answered 400',
      async (body) => {
        for (const [method, path] of writes()) expect((await refused(method, path, body)).status).toBe(400);
      },
    );

    test.each(['[]', '[{"a":"b"}]', '"a"', '5', 'true'])(
      'that are JSON but no object (%s) are answered 400',
      async (body) => {
        for (const [method, path] of writes()) {
          expect((await refused(method, path, body)).body).toEqual({ message: 'Body must be a JSON object' });
        }
      },
    );

    test('that are not UTF-8 are answered 400', async () => {
      const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
      for (const [method, path] of writes()) {
        const response = await fetch(service().url + path, {
          method,
          body,
          headers: { 'content-type': 'application/json' },
        });
        expect([response.status, await response.json()]).toEqual([400, { message: 'Body is not valid UTF-8' }]);
      }
    });

    test.each(['text/plain', 'multipart/form-data; boundary=x', 'application/xml', 'nonsense'])(
      'of type %s are answered 415',
      async (type) => {
        for (const [method, path] of writes()) {
          expect((await refused(method, path, '{"a":"b"}', { 'content-type': type })).status).toBe(415);
        }
      },
    );

    test('in another character set, or compressed, are answered 415', async () => {
      for (const [method, path] of writes()) {
        const headers = { 'content-type': 'application/json; charset=utf-16' };
        expect((await refused(method, path, '{"a":"b"}', headers)).status).toBe(415);
        expect((await refused(method, path, '{"a":"b"}', { 'content-encoding': 'gzip' })).status).toBe(415);
      }
    });

    test('that are malformed are not looked at on a path that does not exist', async () => {
      expect((await refused('POST', '/nowhere', '{')).body).toEqual({ message: 'Not found' });
    });

    test('that are chunked and empty are answered as a missing body is', async () => {
      for (const [method, path] of writes()) {
        const init = { method, body: new Blob([]).stream(), duplex: 'half', headers: { 'content-type': 'text/plain' } };
        const chunked = await fetch(service().url + path, init as RequestInit);
        expect([chunked.status, await chunked.json()]).toEqual([400, (await refused(method, path)).body]);
      }
    });

    test.each(['text/plain', 'nonsense'])(
      'that are missing are answered as such, though they are said to be %s',
      async (type) => {
        for (const [method, path] of writes()) {
          const typed = await refused(method, path, undefined, { 'content-type': type });
          expect([typed.status, typed.body]).toEqual([400, (await refused(method, path)).body]);
        }
      },
    );

    test('without a content type are answered 415', async () => {
      for (const [method, path] of writes()) {
        const response = await fetch(service().url + path, { method, body: Buffer.from('{"a":"b"}') });
        expect([response.status, Object.keys((await response.json()) as object)]).toEqual([415, ['message']]);
      }
    });

    test('of 2 MB are answered 413, whether their length is announced or not', async () => {
      const body = JSON.stringify({ a: 'x'.repeat(2_000_000) });
      const headers = { 'content-type': 'application/json' };
      for (const [method, path] of writes()) {
        expect((await refused(method, path, body)).status).toBe(413);
        const init = { method, body: new Blob([body]).stream(), duplex: 'half', headers } as RequestInit;
        const response = await fetch(service().url + path, init);
        expect([response.status, Object.keys((await response.json()) as object)]).toEqual([413, ['message']]);
      }
    });

    test.each([
      ['', '1.1', ''],
      [' and has the connection closed', '1.1', 'connection: close\r\n'],
      [' over HTTP/1.0', '1.0', ''],
    ])(
      'of 16 MB are answered 413 to who reads no answer before all of it has been sent%s',
      async (_, version, header) => {
        const body = Buffer.alloc(16_000_000, 'x');
        for (const [method, path] of writes()) {
          const { socket, answer } = await sendAll(
            `${method} ${path} HTTP/${version}\r\nhost: a\r\n${header}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
            body,
          );
          expect(answer).toMatch(/^HTTP\/1\.1 413 /);
          if (version === '1.1' && !header) socket.destroy();
          else await once(socket, 'close');
        }
      },
    );

    test('that cannot be read leave their connection open for the next request', async () => {
      for (const [method, path] of writes()) {
        for (const type of ['application/json', 'text/plain']) {
          const { socket } = await sendAll(
            `${method} ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\ncontent-length: 4\r\n\r\n`,
            '{bad',
          );
          socket.write('GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
          expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
        }
      }
    });

    /** @returns what comes first when all has been sent, and the connection */
    async function sendAll(head: string, body: string | Buffer) {
      const socket = connect(Number(new URL(service().url).port), '127.0.0.1');
      socket.write(head);
      await new Promise<void>((sent, lost) => socket.write(body, (error) => (error ? lost(error) : sent())));
      const [answer] = (await once(socket, 'data')) as [Buffer];
      return { socket, answer: answer.toString() };
    }
  });
}
