import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startService, type TestService } from '@rest-services/testing';
import { exchange, openSocket } from './http.ts';
import { notesMain } from './notes/bundled.ts';
import type { NotesDatabase } from './notes/database.ts';

// Bodies that no service reads: they get a 4xx with a message, and change no row.

let service: TestService<NotesDatabase>;
let writes: [method: string, path: string][];

beforeAll(async () => {
  service = await startService(notesMain());
  const { id } = await service.db
    .insertInto('note')
    .values({ title: 'untouched' })
    .returning('id')
    .executeTakeFirstOrThrow();
  writes = [
    ['POST', '/notes'],
    ['PUT', `/notes/${id}`],
  ];
});
afterAll(() => service.stop());

const stored = () => service.db.selectFrom('note').selectAll().execute();

async function refused(...request: Parameters<typeof service.request>) {
  const before = await stored();
  const response = await service.request(...request);
  expect(response.body).toEqual({ message: expect.any(String) });
  expect([response.status >= 400 && response.status < 500, await stored()]).toEqual([true, before]);
  return response;
}

describe('A request body', () => {
  test.each(['{"a":', '{', 'a', "{'a':'b'}", '{"a":"b",}', '{"a":"b"}}', '\0', '{"a":"\n"}'])(
    'responds 400 to malformed JSON (%j)',
    async (body) => {
      for (const [method, path] of writes) expect((await refused(method, path, body)).status).toBe(400);
    },
  );

  test.each(['[]', '[{"a":"b"}]', '"a"', '5', 'true'])(
    'responds 400 to JSON that is not an object (%s)',
    async (body) => {
      for (const [method, path] of writes) {
        expect((await refused(method, path, body)).body).toEqual({ message: 'Body must be a JSON object' });
      }
    },
  );

  test('responds 400 to a body that is not UTF-8', async () => {
    const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    for (const [method, path] of writes) {
      const response = await fetch(service.url + path, {
        method,
        body,
        headers: { 'content-type': 'application/json' },
      });
      expect([response.status, await response.json()]).toEqual([400, { message: 'Body is not valid UTF-8' }]);
    }
  });

  test.each([
    ...['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense'].map((type) => ({
      'content-type': type,
    })),
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-encoding': 'gzip' },
  ])('responds 415 to another type, character set or coding (%j)', async (headers) => {
    for (const [method, path] of writes) {
      expect((await refused(method, path, '{"title":"a"}', headers as Record<string, string>)).status).toBe(415);
    }
  });

  test.each(['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON'])(
    'is JSON by the type %s, without __proto__ and with the last of two values',
    async (type) => {
      const body = '{"title":"a","title":"b","__proto__":{"title":"c"}}';
      const { status, body: created } = await service.request('POST', '/notes', body, { 'content-type': type });
      expect(status).toBe(201);
      expect((await service.request('GET', `/notes/${(created as { id: number }).id}`)).body).toMatchObject({
        title: 'b',
      });
      const unsent = '{"__proto__":{"title":"c"}}';
      expect((await refused('POST', '/notes', unsent)).body).toEqual({ message: 'Title cannot be empty' });
    },
  );

  test('responds 415 to a body that is compressed on its way', async () => {
    const headers =
      'host: a\r\ncontent-type: application/json\r\ntransfer-encoding: gzip, chunked\r\nconnection: close';
    for (const [method, path] of writes) {
      const request = `${method} ${path} HTTP/1.1\r\n${headers}\r\n\r\nd\r\n{"title":"a"}\r\n0\r\n\r\n`;
      expect(await exchange(service.url, request)).toMatch('HTTP/1.1 415 ');
    }
  });

  test('responds 404 to a malformed body on an unknown path', async () => {
    expect((await refused('POST', '/nowhere', '{')).body).toEqual({ message: 'Not found' });
  });

  test('responds to an empty chunked body as to a missing one', async () => {
    for (const [method, path] of writes) {
      const init = { method, body: new Blob([]).stream(), duplex: 'half', headers: { 'content-type': 'text/plain' } };
      const chunked = await fetch(service.url + path, init as RequestInit);
      expect([chunked.status, await chunked.json()]).toEqual([400, (await refused(method, path)).body]);
    }
  });

  test.each(['text/plain', 'nonsense'])(
    'responds to a missing body of content type %s as to a missing one',
    async (type) => {
      for (const [method, path] of writes) {
        const typed = await refused(method, path, undefined, { 'content-type': type });
        expect([typed.status, typed.body]).toEqual([400, (await refused(method, path)).body]);
      }
    },
  );

  test('responds 415 to a body without a content type', async () => {
    for (const [method, path] of writes) {
      const response = await fetch(service.url + path, { method, body: Buffer.from('{"a":"b"}') });
      expect([response.status, Object.keys((await response.json()) as object)]).toEqual([415, ['message']]);
    }
  });

  test('responds 413 to a body of 2 MB, with and without Content-Length', async () => {
    const body = JSON.stringify({ a: 'x'.repeat(2_000_000) });
    const headers = { 'content-type': 'application/json' };
    for (const [method, path] of writes) {
      expect((await refused(method, path, body)).status).toBe(413);
      const init = { method, body: new Blob([body]).stream(), duplex: 'half', headers } as RequestInit;
      const response = await fetch(service.url + path, init);
      expect([response.status, Object.keys((await response.json()) as object)]).toEqual([413, ['message']]);
    }
  });

  test.each([
    ['', '1.1', ''],
    [', with Connection: close', '1.1', 'connection: close\r\n'],
    [', over HTTP/1.0', '1.0', ''],
  ])('responds 413 to a client that sends 16 MB before it reads%s', async (_, version, header) => {
    const body = Buffer.alloc(16_000_000, 'x');
    for (const [method, path] of writes) {
      const { socket, answer } = await sendAll(
        `${method} ${path} HTTP/${version}\r\nhost: a\r\n${header}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
        body,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
      if (version === '1.1' && !header) socket.destroy();
      else await once(socket, 'close');
    }
  });

  test('keeps the connection open after a body that it refuses', async () => {
    for (const [method, path] of writes) {
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

  /** Sends head and body, and returns the first data that is received then, with the socket. */
  async function sendAll(head: string, body: string | Buffer) {
    const socket = openSocket(service.url);
    socket.write(head);
    await new Promise<void>((sent, lost) => socket.write(body, (error) => (error ? lost(error) : sent())));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    return { socket, answer: answer.toString() };
  }
});
