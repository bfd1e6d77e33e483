import { afterAll, describe, expect, test } from '@jest/globals';
import { refusals, startService, testBodies } from '@rest-services/testing';
import fc from 'fast-check';
import type { TutorialsDatabase } from '../src/database.ts';

// Bad input gets a 4xx with a message, and changes no row.

const service = await startService<TutorialsDatabase>('dist/main.js');
const created = await service.request('POST', '/api/tutorials', { title: 'untouched', description: 'untouched' });
const { id } = created.body as { id: number };
afterAll(() => service.stop());

const stored = () => service.db.selectFrom('tutorial').selectAll().orderBy('id').execute();

const writes = () => [['POST', '/api/tutorials'] as const, ['PUT', `/api/tutorials/${id}`] as const];
const refused = refusals({ service: () => service, stored });

testBodies({ service: () => service, stored, writes });

describe('Bodies of POST and PUT', () => {
  test.each(['\\u0000', 'a\\u0000b', '\\ud800', '\\udc00a', '\\ud83d\\ud83d\\ude00'])(
    'with a title or a description that PostgreSQL cannot store (%s) are answered 400',
    async (text) => {
      const message = 'must not contain NUL or unpaired surrogates';
      for (const [method, path] of writes()) {
        expect(await refused(method, path, `{"title":"${text}"}`)).toMatchObject({
          status: 400,
          body: { message: `Title ${message}` },
        });
        expect(await refused(method, path, `{"title":"a","description":"${text}"}`)).toMatchObject({
          status: 400,
          body: { message: `Description ${message}` },
        });
      }
    },
  );

  test('of 1 MiB are read, and their title found too long', async () => {
    const frame = '{"title":""}'.length;
    const body = JSON.stringify({ title: 'x'.repeat(1_048_576 - frame) });
    for (const [method, path] of writes()) {
      expect(await refused(method, path, body)).toMatchObject({
        status: 400,
        body: { message: 'Title must be at most 255 characters' },
      });
    }
  });

  test('with SQL in title and description store it as text', async () => {
    const texts = { title: "'; drop table tutorial; --", description: "' || pg_sleep(9) || '" };
    const { body } = await service.request('POST', '/api/tutorials', texts);
    const created = body as { id: number };
    expect((await service.request('GET', `/api/tutorials/${created.id}`)).body).toMatchObject(texts);
    await service.request('DELETE', `/api/tutorials/${created.id}`);
  });
});

test('A URL-encoded body is answered 415', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await refused('POST', '/api/tutorials', 'title=a', headers)).status).toBe(415);
});

describe('Paths and queries', () => {
  test.each(['%', '%ff', '%31%c0%af'])('that cannot be decoded (%s) are answered 400 Invalid id', async (id) => {
    const invalid = { status: 400, body: { message: 'Invalid id' } };
    for (const method of ['GET', 'DELETE'])
      expect(await refused(method, `/api/tutorials/${id}`)).toMatchObject(invalid);
  });

  test('with SQL in them are answered 400, or searched for', async () => {
    for (const text of ["1'; drop table tutorial; --", '1 or 1=1', "' or '%'='"]) {
      await refused('GET', `/api/tutorials/${encodeURIComponent(text)}`);
      await refused('DELETE', `/api/tutorials/${encodeURIComponent(text)}`);
      const found = await service.request('GET', `/api/tutorials?title=${encodeURIComponent(text)}`);
      expect([found.status, found.body]).toEqual([200, []]);
    }
    expect(await stored()).toHaveLength(1);
  });

  test.each(['%00', 'a%00b', '%00&title=a'])('with NUL in the title (?title=%s) are answered 400', async (title) => {
    const response = await refused('GET', `/api/tutorials?title=${title}`);
    expect(response).toMatchObject({
      status: 400,
      body: { message: 'Title must not contain NUL or unpaired surrogates' },
    });
  });

  test.each(['%', '%zz', '%u0041'])(
    'with a title that is not percent-encoded text (?title=%s) are searched for as they were written',
    async (title) => {
      const { status, body } = await service.request('GET', `/api/tutorials?title=${title}`);
      expect([status, body]).toEqual([200, []]);
      const created = await service.request('POST', '/api/tutorials', { title: `a ${title}` });
      const found = await service.request('GET', `/api/tutorials?title=A%20${title}`);
      expect([found.status, found.body]).toEqual([200, [created.body]]);
      await service.request('DELETE', `/api/tutorials/${(created.body as { id: number }).id}`);
    },
  );

  test.each(['caf%E9', '%ff', 'a%ff', '%ed%a0%80', '%c0%af', '%e2%82', '%ff&title=a', 'a&t%69tle=b%ff'])(
    'with a title that is not UTF-8 (?title=%s) are answered 400, if it is the first',
    async (title) => {
      const first = title.split('&')[0]!;
      const { status, body } = await service.request('GET', `/api/tutorials?title=${title}`);
      expect([status, body]).toEqual(first === 'a' ? [200, []] : [400, { message: 'Title is not valid UTF-8' }]);
    },
  );

  test('with U+FFFD in the title find it', async () => {
    const created = await service.request('POST', '/api/tutorials', { title: 'a\ufffd' });
    const found = await service.request('GET', '/api/tutorials?title=%EF%BF%BD&other=%ff');
    expect([found.status, found.body]).toEqual([200, [created.body]]);
    await service.request('DELETE', `/api/tutorials/${(created.body as { id: number }).id}`);
  });

  test('with parameters of the shape of objects and lists are answered like those without', async () => {
    const all = await stored();
    for (const query of ['title[]=zzz', 'title[a]=zzz', '__proto__[title]=zzz', 'title.a=zzz', '&&&', '=zzz']) {
      const { status, body } = await service.request('GET', `/api/tutorials?${query}`);
      expect([query, status, body]).toEqual([query, 200, all]);
    }
  });

  test('that are longer than a URL may be are answered 4xx with a message', async () => {
    for (const path of [`/${'1'.repeat(20_000)}`, `?title=${'a'.repeat(20_000)}`]) {
      const response = await fetch(`${service.url}/api/tutorials${path}`);
      expect([response.status, await response.json()]).toEqual([
        431,
        expect.objectContaining({ message: expect.any(String) }),
      ]);
    }
  });
});

describe('Properties', () => {
  const options = { numRuns: 150 };
  const json = fc.jsonValue({ depthSize: 'medium', stringUnit: 'binary' });
  const text = (minLength: number, maxLength: number) =>
    fc
      .string({ unit: 'binary', minLength, maxLength })
      .filter((value) => !value.includes('\0') && value.isWellFormed());

  test('a title search answers exactly the titles that contain the text, ignoring case', async () => {
    const empty = await startService<TutorialsDatabase>('dist/main.js');
    const characters = (...size: [minLength: number, maxLength: number]) =>
      fc.string({
        unit: fc.constantFrom('a', 'A', 'b', 'B', 'z', 'Z', '%', '_', '\\', "'", '"'),
        minLength: size[0],
        maxLength: size[1],
      });
    const cases = fc.record({
      titles: fc.array(characters(1, 8), { minLength: 1, maxLength: 20 }),
      text: characters(0, 4),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ titles, text }) => {
        await empty.db.deleteFrom('tutorial').execute();
        await empty.db
          .insertInto('tutorial')
          .values(titles.map((title) => ({ title })))
          .execute();
        const { status, body } = await empty.request('GET', `/api/tutorials?title=${encodeURIComponent(text)}`);
        expect([status, (body as { title: string }[]).map(({ title }) => title)]).toEqual([
          200,
          titles.filter((title) => title.toLowerCase().includes(text.toLowerCase())),
        ]);
      }),
      { numRuns: 300 },
    );
    await empty.stop();
  });

  test('any text without NUL as a title to search for is answered 200 with an array, any with NUL 400', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 300 }), async (title) => {
        const query = new URLSearchParams({ title }).toString();
        const { status, body } = await service.request('GET', `/api/tutorials?${query}`);
        expect([status, Array.isArray(body)]).toEqual(title.includes('\0') ? [400, false] : [200, true]);
      }),
      options,
    );
  });

  test('any JSON as a body is created as it is or refused, and the service never fails', async () => {
    const bodies = fc.oneof(
      json,
      fc.record(
        { title: fc.oneof(json, text(0, 400)), description: fc.oneof(json, text(0, 400)), published: json },
        { requiredKeys: [] },
      ),
    );
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const response = await service.request('POST', '/api/tutorials', body);
        if (response.status === 400) return;
        expect(response.status).toBe(201);
        const sent = body as { title: string; description?: string | null; published?: boolean | null };
        const { body: tutorial } = await service.request(
          'GET',
          `/api/tutorials/${(response.body as { id: number }).id}`,
        );
        expect(tutorial).toEqual(response.body);
        expect(tutorial).toMatchObject({
          title: sent.title,
          description: sent.description ?? '',
          published: sent.published ?? false,
        });
      }),
      options,
    );
  });

  test('every text that is storable comes back as it was sent, a title of 1 to 255 code points unless it is blank', async () => {
    const titles = text(1, 255).filter((title) => title.trim() !== '');
    await fc.assert(
      fc.asyncProperty(titles, text(0, 1_000), async (title, description) => {
        const { status, body } = await service.request('PUT', `/api/tutorials/${id}`, { title, description });
        expect([status, body]).toEqual([200, { message: 'Tutorial was updated successfully.' }]);
        expect((await service.request('GET', `/api/tutorials/${id}`)).body).toMatchObject({ title, description });
      }),
      options,
    );
  });

  test('any JSON as the body of PUT is answered 200 or 400', async () => {
    const bodies = fc.oneof(
      json,
      fc.record({ title: json, description: json, published: fc.oneof(json, fc.boolean()) }, { requiredKeys: [] }),
    );
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const { status } = await service.request('PUT', `/api/tutorials/${id}`, body);
        expect([200, 400]).toContain(status);
      }),
      options,
    );
  });

  test('any text as a body is answered 400, or 201 where it is a JSON object with a title', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1 }), async (body) => {
        const { status } = await service.request('POST', '/api/tutorials', body);
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
    const namesATutorial = (name: string) => /^[0-9]+$/.test(name) && Number(name) < 1_000_000;
    await fc.assert(
      fc.asyncProperty(ids, fc.constantFrom('GET', 'PUT', 'DELETE'), async (name, method) => {
        fc.pre(!['.', '..', 'published'].includes(name) && !namesATutorial(name));
        const body = method === 'PUT' ? { title: 'a' } : undefined;
        const response = await service.request(method, `/api/tutorials/${encodeURIComponent(name)}`, body);
        expect(response.status).toBe(/^[0-9]+$/.test(name) ? 404 : 400);
      }),
      options,
    );
  });
});
