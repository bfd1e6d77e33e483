import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sendJson, startShared } from '@rest-services/testing';
import { exchange, getJson, openSocket } from './http.ts';
import { notesMain } from './notes/bundled.ts';

const shared = await startShared(notesMain());
const { url } = shared;
beforeEach(() => sendJson(url, 'POST', '/notes', { title: 'untouched' }));

const JSON_TYPE = 'application/json';
const writes = [
  ['POST', '/notes'],
  ['PUT', '/notes/1'],
] as const;

/** Sends a body with both methods that take one. Expects a refusal, and no change. @returns message and headers of the last */
async function expectRefused(
  status: number,
  body: string | Buffer | Blob | undefined,
  headers: Record<string, string>,
) {
  let refused = { message: '', headers: new Headers() };
  for (const [method, path] of writes) {
    // A stream is sent in chunks.
    const sent = body instanceof Blob ? { body: body.stream(), duplex: 'half' } : { body };
    const response = await fetch(url + path, { method, headers, ...sent } as RequestInit);
    const received = (await response.json()) as { message: string };
    expect([method, response.status, received]).toEqual([method, status, { message: expect.any(String) }]);
    refused = { message: received.message, headers: response.headers };
  }
  expect(await getJson(`${url}/notes`)).toEqual([200, [{ id: 1, title: 'untouched' }]]);
  return refused;
}

describe('A request body', () => {
  const notUtf8 = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
  test.each<[string, (string | Buffer)[], string | RegExp]>([
    ['malformed JSON', ['{"a":', "{'a':'b'}", '{"a":"b"}}', '\0', '{"a":"\n"}'], /./],
    ['JSON that is no object', ['[]', '[{"a":"b"}]', '"a"', '5', 'true'], 'Body must be a JSON object'],
    ['another encoding than UTF-8', [notUtf8], 'Body is not valid UTF-8'],
  ])('responds 400 to %s', async (_, bodies, message) => {
    for (const body of bodies)
      expect((await expectRefused(400, body, { 'content-type': JSON_TYPE })).message).toMatch(message);
  });

  const otherTypes = ['text/plain', 'application/x-www-form-urlencoded', 'nonsense', undefined];
  test.each(otherTypes)('of type %s gets 415, which says what is accepted', async (type) => {
    const sent = type === undefined ? Buffer.from('{"title":"a"}') : '{"title":"a"}';
    const { message, headers } = await expectRefused(415, sent, type === undefined ? {} : { 'content-type': type });
    expect([message, headers.get('accept')]).toEqual(['Content-Type must be application/json', JSON_TYPE]);
  });

  test.each([{ 'content-type': 'application/json; charset=utf-16' }, { 'content-encoding': 'gzip' }])(
    'of another character set or coding (%j) gets 415, which says what is accepted',
    async (sent) => {
      const { message, headers } = await expectRefused(415, '{"title":"a"}', { 'content-type': JSON_TYPE, ...sent });
      expect([message, headers.get('accept-encoding')]).toEqual([
        'Body must be in UTF-8 and not compressed',
        'identity',
      ]);
    },
  );

  test('responds 415 to a body that is compressed on its way', async () => {
    const head = `POST /notes HTTP/1.1\r\nhost: a\r\ncontent-type: ${JSON_TYPE}\r\nconnection: close`;
    const compressed = `${head}\r\ntransfer-encoding: gzip, chunked\r\n\r\nd\r\n{"title":"a"}\r\n0\r\n\r\n`;
    expect(await exchange(url, compressed)).toMatch('HTTP/1.1 415 ');
  });

  test.each(['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON'])(
    'is JSON by the type %s, without __proto__, with the last of two values, and without a byte order mark',
    async (type) => {
      const body = '\ufeff{"title":"a","title":"\ufeffb","__proto__":{"title":"c"}}';
      expect((await sendJson(url, 'POST', '/notes', body, { 'content-type': type })).status).toBe(201);
      expect(await getJson(`${url}/notes/2`)).toEqual([200, { id: 2, title: '\ufeffb' }]);
      const unsent = await sendJson(url, 'POST', '/notes', '{"__proto__":{"title":"c"}}', { 'content-type': type });
      expect(unsent.body).toEqual({ message: 'Title cannot be empty' });
    },
  );

  test('that is empty means the same as none, whatever its type, chunked too', async () => {
    for (const type of [JSON_TYPE, 'text/plain', 'nonsense'])
      for (const body of [undefined, '', new Blob([])])
        expect((await expectRefused(400, body, { 'content-type': type })).message).toBe('Title cannot be empty');
    expect((await expectRefused(400, '\ufeff', { 'content-type': JSON_TYPE })).message).toBe('Title cannot be empty');
  });

  test.each([
    ['with Content-Length', (body: string) => ({ body })],
    ['without', (body: string) => ({ body: new Blob([body]).stream(), duplex: 'half' })],
  ])('of 1 MiB is read, and one of a byte more gets 413, %s', async (_, sent) => {
    const headers = { 'content-type': JSON_TYPE };
    const send = async (bytes: number) => {
      const body = '{"title":"a"}'.padEnd(bytes);
      const response = await fetch(`${url}/notes`, { method: 'POST', headers, ...sent(body) } as RequestInit);
      return [response.status, Object.keys((await response.json()) as object)];
    };
    expect(await send(1_048_576)).toEqual([201, ['id']]);
    expect(await send(1_048_577)).toEqual([413, ['message']]);
  });

  test.each([
    ['bad JSON', JSON_TYPE, '{bad', 400],
    ['of another type', 'text/plain', '{bad', 415],
    ['of 16 MB', JSON_TYPE, 'x'.repeat(16_000_000), 413],
  ])('%s that is refused leaves the connection open', async (_, type, body, status) => {
    const socket = openSocket(url);
    socket.write(`POST /notes HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`);
    await new Promise<void>((sent, lost) => socket.write(body, (error) => (error ? lost(error) : sent())));
    const [response] = (await once(socket, 'data')) as [Buffer];
    expect(response.toString()).toMatch(`HTTP/1.1 ${status} `);
    socket.write('GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });
});
