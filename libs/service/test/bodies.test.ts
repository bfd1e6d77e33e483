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

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense'])(
    'of type %s gets 415, which says what is accepted',
    async (type) => {
      for (const [method, path] of writes) {
        const { status, body, headers } = await refused(method, path, '{"title":"a"}', { 'content-type': type });
        expect([status, body]).toEqual([415, { message: 'Content-Type must be application/json' }]);
        expect(headers.get('accept')).toBe('application/json');
      }
    },
  );

  test.each([{ 'content-type': 'application/json; charset=utf-16' }, { 'content-encoding': 'gzip' }])(
    'of another character set or coding (%j) gets 415, which says what is accepted',
    async (sent) => {
      for (const [method, path] of writes) {
        const { status, body, headers } = await refused(method, path, '{"title":"a"}', sent);
        expect([status, body]).toEqual([415, { message: 'Body must be in UTF-8 and not compressed' }]);
        expect(headers.get('accept-encoding')).toBe('identity');
      }
    },
  );

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

  test.each([
    ['with Content-Length', (body: string) => ({ body })],
    ['without', (body: string) => ({ body: new Blob([body]).stream(), duplex: 'half' })],
  ])('of 1 MiB is read, and one of a byte more gets 413, %s', async (_, sent) => {
    const headers = { 'content-type': 'application/json' };
    const send = async (bytes: number) => {
      const body = '{"title":"a"}'.padEnd(bytes);
      const response = await fetch(`${service.url}/notes`, { method: 'POST', headers, ...sent(body) } as RequestInit);
      return [response.status, Object.keys((await response.json()) as object)];
    };
    expect(await send(1_048_576)).toEqual([201, ['id']]);
    expect(await send(1_048_577)).toEqual([413, ['message']]);
  });

  test.each([
    ['bad JSON', 'application/json', '{bad', 400],
    ['of another type', 'text/plain', '{bad', 415],
    ['of 16 MB', 'application/json', 'x'.repeat(16_000_000), 413],
  ])('%s that is refused leaves the connection open', async (_, type, body, status) => {
    const socket = openSocket(service.url);
    socket.write(`POST /notes HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`);
    await new Promise<void>((sent, lost) => socket.write(body, (error) => (error ? lost(error) : sent())));
    const [response] = (await once(socket, 'data')) as [Buffer];
    expect(response.toString()).toMatch(`HTTP/1.1 ${status} `);
    socket.write('GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });
});
