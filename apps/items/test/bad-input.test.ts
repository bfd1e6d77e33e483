import { afterAll, describe, expect, test } from '@jest/globals';
import { refusals, startService, testBodies } from '@rest-services/testing';
import fc from 'fast-check';
import type { ItemsDatabase } from '../src/database.ts';

// Bad input gets a 4xx with a message, and changes no row.

const service = await startService<ItemsDatabase>('dist/main.js');
const created = await service.request('POST', '/v1/items', { title: 'untouched' });
const { id } = created.body as { id: number };
afterAll(() => service.stop());

const stored = () => service.db.selectFrom('item').selectAll().execute();

const writes = () => [['POST', '/v1/items'] as const, ['PUT', `/v1/items/${id}`] as const];
const refused = refusals({ service: () => service, stored });

testBodies({ service: () => service, stored, writes });

describe('Bodies of POST and PUT', () => {
  test.each(['\\u0000', 'a\\u0000b', '\\ud800', '\\udc00a', '\\ud83d\\ud83d\\ude00'])(
    'with a title that PostgreSQL cannot store (%s) are answered 400',
    async (title) => {
      for (const [method, path] of writes()) {
        expect((await refused(method, path, `{"title":"${title}"}`)).body).toEqual({
          message: 'Title must not contain NUL or unpaired surrogates',
        });
      }
    },
  );

  test('of 1 MiB are read, and their title found too long', async () => {
    const frame = '{"title":""}'.length;
    const response = await refused('POST', '/v1/items', JSON.stringify({ title: 'x'.repeat(1_048_576 - frame) }));
    expect(response).toMatchObject({ status: 400, body: { message: 'Title must be at most 150 characters' } });
  });

  test('with SQL in the title store it as text', async () => {
    const title = "'; drop table item; --";
    const { body } = await service.request('POST', '/v1/items', { title });
    const created = body as { id: number };
    expect((await service.request('GET', `/v1/items/${created.id}`)).body).toMatchObject({ title });
    await service.request('DELETE', `/v1/items/${created.id}`);
  });
});

test('A URL-encoded body is answered 415', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await refused('POST', '/v1/items', 'title=a', headers)).status).toBe(415);
});

describe('Paths and queries', () => {
  test.each([
    ['/%zz', 404, 'Not found'],
    ['/v1/items/%', 400, 'Invalid id'],
    ['/v1/items/%ff', 400, 'Invalid id'],
    ['/v1/items/%31%c0%af', 400, 'Invalid id'],
  ])('that cannot be decoded (%s) are answered as others are', async (path, status, message) => {
    for (const method of ['GET', 'DELETE'])
      expect(await refused(method, path)).toMatchObject({ status, body: { message } });
  });

  test("with SQL in them are answered 4xx or take a parameter's default", async () => {
    await refused('GET', `/v1/items/${encodeURIComponent("1'; drop table item; --")}`);
    await refused('DELETE', `/v1/items/${encodeURIComponent('1 or 1=1')}`);
    const list = await service.request('GET', `/v1/items?page=${encodeURIComponent("1'; drop table item; --")}`);
    expect([list.status, list.body]).toEqual([200, JSON.parse(JSON.stringify(await stored()))]);
  });

  test('that are longer than a URL may be are answered 4xx with a message', async () => {
    const response = await fetch(`${service.url}/v1/items/${'1'.repeat(20_000)}`);
    expect([response.status, await response.json()]).toEqual([
      431,
      expect.objectContaining({ message: expect.any(String) }),
    ]);
  });
});

describe('Properties', () => {
  const options = { numRuns: 150 };
  const json = fc.jsonValue({ depthSize: 'medium', stringUnit: 'binary' });

  test('any JSON as a body is created as it is or refused, and the service never fails', async () => {
    const bodies = fc.oneof(
      json,
      fc.record({ title: fc.oneof(json, fc.string({ unit: 'binary', maxLength: 400 })), status: json }),
    );
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const response = await service.request('POST', '/v1/items', body);
        const title = (body as { title?: unknown } | null)?.title;
        if (response.status === 400) return;
        expect(response.status).toBe(201);
        const { body: item } = await service.request('GET', `/v1/items/${(response.body as { id: number }).id}`);
        expect(item).toMatchObject({ title, status: 'Doing' });
      }),
      options,
    );
  });

  test('every text of 1 to 150 code points that is neither blank nor unstorable comes back as it was sent', async () => {
    const titles = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 150 })
      .filter((text) => text.trim() !== '' && !text.includes('\0') && text.isWellFormed());
    await fc.assert(
      fc.asyncProperty(titles, async (title) => {
        const { status, body } = await service.request('PUT', `/v1/items/${id}`, { title });
        expect(status).toBe(200);
        expect(body).toEqual({ message: 'Item updated successfully' });
        expect((await service.request('GET', `/v1/items/${id}`)).body).toMatchObject({ title });
      }),
      options,
    );
  });

  test('any JSON as the body of PUT is answered 200 or 400', async () => {
    const bodies = fc.oneof(
      json,
      fc.record({ title: json, status: fc.oneof(json, fc.constantFrom('Doing', 'Finished', '')) }),
    );
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const { status } = await service.request('PUT', `/v1/items/${id}`, body);
        expect([200, 400]).toContain(status);
      }),
      options,
    );
  });

  test('any text as a body is answered 400, or 201 where it is a JSON object with a title', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1 }), async (body) => {
        const { status } = await service.request('POST', '/v1/items', body);
        expect([201, 400]).toContain(status);
      }),
      options,
    );
  });

  test('any text as an id is answered 404 where it is decimal digits, else 400, with every method', async () => {
    const ids = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.bigInt().map(String),
      fc.double().map(String),
    );
    const namesAnItem = (text: string) => /^[0-9]+$/.test(text) && Number(text) < 1_000_000;
    await fc.assert(
      fc.asyncProperty(ids, fc.constantFrom('GET', 'PUT', 'DELETE'), async (text, method) => {
        fc.pre(!['.', '..', 'summary'].includes(text) && !namesAnItem(text));
        const body = method === 'PUT' ? { title: 'a' } : undefined;
        const response = await service.request(method, `/v1/items/${encodeURIComponent(text)}`, body);
        expect(response.status).toBe(/^[0-9]+$/.test(text) ? 404 : 400);
      }),
      options,
    );
  });

  test('any text as page and limit is answered 200 with an array', async () => {
    const texts = fc.oneof(fc.string({ unit: 'grapheme' }), fc.bigInt().map(String), fc.double().map(String));
    await fc.assert(
      fc.asyncProperty(texts, texts, async (page, limit) => {
        const query = new URLSearchParams({ page, limit }).toString();
        const { status, body } = await service.request('GET', `/v1/items?${query}`);
        expect([status, Array.isArray(body)]).toEqual([200, true]);
      }),
      options,
    );
  });
});
