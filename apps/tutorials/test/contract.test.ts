import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';
import { sql } from 'kysely';
import type { TutorialsDatabase } from '../src/database.ts';

const service = await startService<TutorialsDatabase>('dist/main.js');
afterAll(() => service.stop());
beforeEach(() => service.db.deleteFrom('tutorial').execute());

interface Tutorial {
  id: number;
  title: string;
  description: string;
  published: boolean;
}

const send = (...args: Parameters<typeof service.request>) => service.request(...args);

async function create(fields: Partial<Tutorial> = {}) {
  const { body } = await send('POST', '/api/tutorials', { title: 'Fastify', ...fields });
  return body as Tutorial;
}

async function read(id: number) {
  const { body } = await send('GET', `/api/tutorials/${id}`);
  return body as Tutorial;
}

async function titles(query = '') {
  const { body } = await send('GET', `/api/tutorials${query}`);
  return (body as Tutorial[]).map(({ title }) => title);
}

const stored = () => service.db.selectFrom('tutorial').selectAll().orderBy('id').execute();

const answer = (status: number, body: unknown) => expect.objectContaining({ status, body });
const updated = { message: 'Tutorial was updated successfully.' };
const missingId = 2 ** 40;

const wrongFields: [string, object, string][] = [
  ['a title that is a number', { title: 12 }, 'Title must be a string'],
  ['a title that is a boolean', { title: false }, 'Title must be a string'],
  ['a title that is a list', { title: ['a'] }, 'Title must be a string'],
  ['a title that is an object', { title: { a: 1 } }, 'Title must be a string'],
  ['a title of 256 characters', { title: 'x'.repeat(256) }, 'Title must be at most 255 characters'],
  ['a title of 256 emoji', { title: '😀'.repeat(256) }, 'Title must be at most 255 characters'],
  ['a description that is a number', { description: 12 }, 'Description must be a string'],
  ['a description that is a boolean', { description: true }, 'Description must be a string'],
  ['a description that is a list', { description: [] }, 'Description must be a string'],
  ['a description that is an object', { description: {} }, 'Description must be a string'],
  ['a published flag that is the text "true"', { published: 'true' }, 'Published must be a boolean'],
  ['a published flag that is an empty text', { published: '' }, 'Published must be a boolean'],
  ['a published flag that is 1', { published: 1 }, 'Published must be a boolean'],
  ['a published flag that is 0', { published: 0 }, 'Published must be a boolean'],
  ['a published flag that is a list', { published: [true] }, 'Published must be a boolean'],
];

describe('POST /api/tutorials', () => {
  test('answers 201 with the whole tutorial', async () => {
    const fields = { title: 'Fastify', description: 'Routes', published: true };
    const response = await send('POST', '/api/tutorials', fields);
    expect(response).toEqual(answer(201, { id: expect.any(Number), ...fields }));
  });

  test('stores what it answers', async () => {
    const tutorial = await create({ description: 'Routes', published: true });
    expect(await read(tutorial.id)).toEqual(tutorial);
    expect(await stored()).toEqual([tutorial]);
  });

  test('defaults description to "" and published to false', async () => {
    expect(await send('POST', '/api/tutorials', { title: 'Fastify' })).toEqual(
      answer(201, { id: expect.any(Number), title: 'Fastify', description: '', published: false }),
    );
  });

  test('takes a null description and a null published flag as absent', async () => {
    expect(await send('POST', '/api/tutorials', { title: 'Fastify', description: null, published: null })).toEqual(
      answer(201, { id: expect.any(Number), title: 'Fastify', description: '', published: false }),
    );
  });

  test('gives increasing ids', async () => {
    const ids = [(await create()).id, (await create()).id, (await create()).id];
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(new Set(ids).size).toBe(3);
  });

  test.each([
    ['a missing title', {}],
    ['a missing title beside other fields', { description: 'a', published: true }],
    ['a null title', { title: null }],
    ['an empty title', { title: '' }],
    ['a blank title', { title: ' \t\n\u00a0' }],
    ['a blank title that is too long', { title: ' '.repeat(256) }],
  ])('answers 400 Content can not be empty! to %s', async (_, body) => {
    expect(await send('POST', '/api/tutorials', body)).toEqual(answer(400, { message: 'Content can not be empty!' }));
    expect(await stored()).toEqual([]);
  });

  test.each(wrongFields)('answers 400 to %s', async (_, fields, message) => {
    expect(await send('POST', '/api/tutorials', { title: 'Fastify', ...fields })).toEqual(answer(400, { message }));
    expect(await stored()).toEqual([]);
  });

  test('stores a title of 255 characters', async () => {
    expect((await read((await create({ title: 'x'.repeat(255) })).id)).title).toBe('x'.repeat(255));
  });

  test('counts a title in code points: 255 emoji fit', async () => {
    expect((await read((await create({ title: '😀'.repeat(255) })).id)).title).toBe('😀'.repeat(255));
  });

  test('stores a description of 100,000 characters', async () => {
    const description = '😀'.repeat(100_000);
    expect((await read((await create({ description })).id)).description).toBe(description);
  });

  test('stores title and description as they were sent, not trimmed', async () => {
    const text = '  a\tb\u2028 \\ " \' %s $1 \u{1F469}\u200D\u{1F4BB} é e\u0301 ';
    expect(await read((await create({ title: text, description: text })).id)).toMatchObject({
      title: text,
      description: text,
    });
  });

  test('stores a blank description as it was sent', async () => {
    expect((await read((await create({ description: ' \n' })).id)).description).toBe(' \n');
  });

  test('ignores an id in the body', async () => {
    const body = { id: missingId, title: 'Fastify' };
    const response = await send('POST', '/api/tutorials', body);
    expect(response.status).toBe(201);
    expect((response.body as Tutorial).id).not.toBe(missingId);
  });

  test('ignores unknown properties, prototype keys included', async () => {
    const body = '{"title":"a","extra":{"b":1},"__proto__":{"published":true},"constructor":{"prototype":{}}}';
    expect(await send('POST', '/api/tutorials', body)).toEqual(
      answer(201, { id: expect.any(Number), title: 'a', description: '', published: false }),
    );
  });

  test('answers a missing body as an empty object, whatever its content type', async () => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', '']) {
      const response = await fetch(`${service.url}/api/tutorials`, {
        method: 'POST',
        headers: type ? { 'content-type': type } : {},
      });
      expect([response.status, await response.json()]).toEqual([400, { message: 'Content can not be empty!' }]);
    }
  });
});

describe('GET /api/tutorials', () => {
  test('answers 200 and an empty array when there are no tutorials', async () => {
    expect(await send('GET', '/api/tutorials')).toEqual(answer(200, []));
  });

  test('answers all fields of all tutorials, published or not, as a bare array', async () => {
    const tutorials = [await create(), await create({ description: 'b', published: true })];
    expect(await send('GET', '/api/tutorials')).toEqual(answer(200, tutorials));
  });

  test('keeps the order by id after an update', async () => {
    const ids = [(await create()).id, (await create()).id, (await create()).id];
    await send('PUT', `/api/tutorials/${ids[0]}`, { title: 'changed' });
    const { body } = await send('GET', '/api/tutorials');
    expect((body as Tutorial[]).map(({ id }) => id)).toEqual(ids);
  });
});

describe('GET /api/tutorials?title=', () => {
  const all = [
    'Fastify',
    'fast food',
    '100% pure',
    'a_b',
    'a\\b',
    "it's",
    '"so"',
    'a b',
    'axb',
    'a\\%b',
    'İSTANBUL',
    'Москва',
  ];
  beforeEach(() =>
    service.db
      .insertInto('tutorial')
      .values(all.map((title) => ({ title, description: 'not searched: zzz' })))
      .execute(),
  );

  test.each([
    ['a whole title', 'Fastify', ['Fastify']],
    ['the beginning of a title', 'Fast', ['Fastify', 'fast food']],
    ['the end of a title', 'ood', ['fast food']],
    ['the middle of a title, in any case', 'ASTIF', ['Fastify']],
    ['letters that are not Latin, in any case', 'моск', ['Москва']],
    ['letters of which one was larger in bytes', 'ista', ['İSTANBUL']],
    ['a single letter', 'X', ['axb']],
    ['a blank', ' ', ['fast food', '100% pure', 'a b']],
    ['%', '%', ['100% pure', 'a\\%b']],
    ['_', '_', ['a_b']],
    ['\\', '\\', ['a\\b', 'a\\%b']],
    ['\\%', '\\%', ['a\\%b']],
    ['\\\\', '\\\\', []],
    ['a%b', 'a%b', []],
    ['a_b', 'a_b', ['a_b']],
    ['an apostrophe', "'", ["it's"]],
    ['a quotation mark', '"', ['"so"']],
    ['SQL', "' or 1=1 --", []],
    ['a text of the description', 'zzz', []],
    ['a text that no title has', 'nothing', []],
    ['a text longer than a title can be', 'a'.repeat(1_000), []],
  ])('answers the tutorials whose title contains %s', async (_, text, expected) => {
    const response = await send('GET', `/api/tutorials?title=${encodeURIComponent(text)}`);
    expect([response.status, (response.body as Tutorial[]).map(({ title }) => title)]).toEqual([200, expected]);
  });

  test.each([
    ['οδος', 'ΟΔΟΣ'],
    ['ΟΔΟΣ', 'οδος'],
    ['ΔΡΌΜΟΣ', 'Ο δρόμος'],
    ['ο δρόμοσ', 'Ο δρόμος'],
    ['10 μM', '10 µm'],
    ['START', 'ſtart'],
    ['ϐ', 'ΒΙΒΛΟΣ'],
    ['300 k', '300 K'],
    ['STRAẞE', 'Straße'],
    ['Ꮳꮃꭹ', 'ᏣᎳᎩ'],
  ])('finds with %s the title %s', async (text, title) => {
    await create({ title });
    expect(await titles(`?title=${encodeURIComponent(text)}`)).toEqual([title]);
  });

  test.each([
    ['strasse', 'Straße'],
    ['ı', 'TITLE'],
    ['i', 'ı'],
    ['é', 'cafe\u0301'],
  ])('does not find with %s the title %s', async (text, title) => {
    await create({ title });
    expect(await titles(`?title=${encodeURIComponent(text)}`)).not.toContain(title);
  });

  test('finds every letter by each that Unicode folds together with it', async () => {
    const letters = Array.from({ length: 0x2_0000 }, (_, code) => String.fromCodePoint(code)).filter((letter) =>
      /\p{Changes_When_Casemapped}/u.test(letter),
    );
    const text = letters.join('');
    const firsts = letters.map((letter) => new RegExp(letter, 'iu').exec(text)![0]);
    for (let at = 0; at < letters.length; at += 255) {
      const title = letters.slice(at, at + 255).join('');
      await create({ title });
      expect(await titles(`?title=${encodeURIComponent(firsts.slice(at, at + 255).join(''))}`)).toEqual([title]);
    }
  });

  test('finds a title of 255 characters, and none by a longer text', async () => {
    const title = '😀'.repeat(255);
    await create({ title });
    expect(await titles(`?title=${encodeURIComponent(title)}`)).toEqual([title]);
    expect(await titles(`?title=${encodeURIComponent(`${title}😀`)}`)).toEqual([]);
  });

  test('responds 503 with Retry-After to a search that takes too long', async () => {
    await service.db.transaction().execute(async (transaction) => {
      await sql`lock table tutorial in access exclusive mode`.execute(transaction);
      const responses = ['ab', 'Fastify'].map((text) => fetch(`${service.url}/api/tutorials?title=${text}`));
      for (const response of await Promise.all(responses)) {
        expect([response.status, response.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-9]$/)]);
        expect(await response.json()).toEqual({ message: expect.any(String) });
      }
    });
  });

  test.each(['?title=', '?title', '?', '?other=Fastify', '?Title=Fastify'])('lists all for %s', async (query) => {
    expect(await titles(query)).toEqual(all);
  });

  test.each([
    ['?title=food&title=Fastify', ['fast food']],
    ['?title=nothing&title=Fastify', []],
    ['?title=&title=Fastify', all],
  ])('uses the first value of a repeated parameter: %s', async (query, expected) => {
    expect(await titles(query)).toEqual(expected);
  });

  test('reads + and %20 as a blank', async () => {
    expect(await titles('?title=a+b')).toEqual(['a b']);
    expect(await titles('?title=a%20b')).toEqual(['a b']);
  });

  test('answers all fields of each tutorial, in the order of their ids', async () => {
    const tutorials = [await create({ title: 'new Y' }), await create({ title: 'new X', published: true })];
    await send('PUT', `/api/tutorials/${tutorials[0]!.id}`, { title: 'new Y' });
    expect(await send('GET', '/api/tutorials?title=NEW')).toEqual(answer(200, tutorials));
  });
});

describe('GET /api/tutorials/published', () => {
  test('answers 200 and an empty array when no tutorial is published', async () => {
    await create();
    expect(await send('GET', '/api/tutorials/published')).toEqual(answer(200, []));
  });

  test('answers all fields of the published tutorials, in the order of their ids', async () => {
    const first = await create({ published: true });
    await create({ published: false });
    const third = await create({ published: true });
    await send('PUT', `/api/tutorials/${first.id}`, { published: true });
    expect(await send('GET', '/api/tutorials/published')).toEqual(answer(200, [first, third]));
  });

  test('follows the flag as PUT sets and clears it', async () => {
    const tutorial = await create();
    await send('PUT', `/api/tutorials/${tutorial.id}`, { published: true });
    expect((await send('GET', '/api/tutorials/published')).body).toEqual([{ ...tutorial, published: true }]);
    await send('PUT', `/api/tutorials/${tutorial.id}`, { published: false });
    expect((await send('GET', '/api/tutorials/published')).body).toEqual([]);
  });
});

test('GET /api/tutorials/published reads no tutorials that are not published, however many there are', async () => {
  const one = await startService('dist/main.js', { DATABASE_POOL_MAX: '1' });
  await sql`insert into tutorial (title, published) select 'a', n = 15000 from generate_series(1, 20000) n`.execute(
    one.db,
  );
  const before = await rowsRead();
  const { body } = await one.request('GET', '/api/tutorials/published');
  expect((body as Tutorial[]).map(({ id }) => id)).toEqual([15_000]);
  expect((await rowsRead()) - before).toBeLessThan(10);
  await one.stop();

  async function rowsRead() {
    await sql`select pg_stat_force_next_flush()`.execute(one.db);
    const { rows } = await sql<{ count: number }>`
      select seq_tup_read + idx_tup_fetch as count from pg_stat_user_tables where relname = 'tutorial'`.execute(one.db);
    return rows[0]!.count;
  }
});

describe('A list of 2,345 tutorials', () => {
  test.each(['', '?title=tut', '?title=L%2010', '/published'])(
    'is one JSON array in the order of the ids: GET /api/tutorials%s',
    async (rest) => {
      const values = Array.from({ length: 2_345 }, (_, n) => ({ title: `Tutorial ${n} "[],`, published: n % 3 > 0 }));
      await service.db.insertInto('tutorial').values(values).execute();
      const chosen: Record<string, (tutorial: Tutorial) => boolean> = {
        '?title=L%2010': ({ title }) => title.startsWith('Tutorial 10'),
        '/published': ({ published }) => published,
      };
      const { body } = await send('GET', `/api/tutorials${rest}`);
      expect(body).toEqual((await stored()).filter(chosen[rest] ?? (() => true)));
    },
  );
});

describe('GET /api/tutorials/:id', () => {
  test('answers 200 with all fields of the tutorial', async () => {
    await create({ title: 'other' });
    const tutorial = await create({ description: 'Routes', published: true });
    expect(await send('GET', `/api/tutorials/${tutorial.id}`)).toEqual(
      answer(200, { id: tutorial.id, title: 'Fastify', description: 'Routes', published: true }),
    );
  });

  test('reads leading zeros as decimal digits', async () => {
    const tutorial = await create();
    expect(await send('GET', `/api/tutorials/000${tutorial.id}`)).toEqual(answer(200, tutorial));
  });
});

describe('PUT /api/tutorials/:id', () => {
  const before = { title: 'Fastify', description: 'Routes', published: true };

  test.each([
    ['the title alone', { title: 'new' }, { title: 'new' }],
    ['the description alone', { description: 'new' }, { description: 'new' }],
    ['the description to ""', { description: '' }, { description: '' }],
    ['the published flag alone', { published: false }, { published: false }],
    [
      'all fields',
      { title: 'n', description: 'e', published: false },
      { title: 'n', description: 'e', published: false },
    ],
    [
      'the title, null fields counting as absent',
      { title: 'new', description: null, published: null },
      { title: 'new' },
    ],
    ['the published flag, a null title counting as absent', { title: null, published: false }, { published: false }],
    ['the title, unknown properties being ignored', { title: 'new', createdAt: 1, updatedAt: null }, { title: 'new' }],
    ['the title to one of 255 characters', { title: 'x'.repeat(255) }, { title: 'x'.repeat(255) }],
    ['the title to one of 255 emoji', { title: '😀'.repeat(255) }, { title: '😀'.repeat(255) }],
    ['the title to one that is not trimmed', { title: ' a ' }, { title: ' a ' }],
    ['nothing, the same values being sent', before, {}],
  ])('answers 200 with a message and changes %s', async (_, body, changes) => {
    const { id } = await create(before);
    expect(await send('PUT', `/api/tutorials/${id}`, body)).toEqual(answer(200, updated));
    expect(await read(id)).toEqual({ id, ...before, ...changes });
  });

  test('ignores an id in the body', async () => {
    const [tutorial, other] = [await create(), await create({ title: 'other' })];
    for (const id of [other.id, missingId, 'x', -1]) {
      expect(await send('PUT', `/api/tutorials/${tutorial.id}`, { id, title: 'new' })).toEqual(answer(200, updated));
    }
    expect(await stored()).toEqual([{ ...tutorial, title: 'new' }, other]);
  });

  test('accepts the whole row that was read', async () => {
    const tutorial = await create(before);
    const row = await read(tutorial.id);
    expect(await send('PUT', `/api/tutorials/${row.id}`, { ...row, published: false })).toEqual(answer(200, updated));
    expect(await read(row.id)).toEqual({ ...tutorial, published: false });
  });

  test('changes no other tutorial', async () => {
    const [tutorial, other] = [await create(), await create({ title: 'other' })];
    await send('PUT', `/api/tutorials/${tutorial.id}`, { title: 'new', description: 'new', published: true });
    expect(await read(other.id)).toEqual(other);
  });

  test.each([
    ['an empty body', {}],
    ['an id alone', { id: 7 }],
    ['unknown properties alone', { name: 'x', Title: 'y' }],
    ['null fields alone', { title: null, description: null, published: null }],
  ])('answers 400 Data to update can not be empty! to %s', async (_, body) => {
    const tutorial = await create(before);
    expect(await send('PUT', `/api/tutorials/${tutorial.id}`, body)).toEqual(
      answer(400, { message: 'Data to update can not be empty!' }),
    );
    expect(await stored()).toEqual([tutorial]);
  });

  test('answers 400 Data to update can not be empty! to a missing body, whatever its content type', async () => {
    const { id } = await create();
    for (const type of ['application/json', 'text/plain', '']) {
      const response = await fetch(`${service.url}/api/tutorials/${id}`, {
        method: 'PUT',
        headers: type ? { 'content-type': type } : {},
      });
      expect([response.status, await response.json()]).toEqual([400, { message: 'Data to update can not be empty!' }]);
    }
  });

  test.each([
    ['an empty title', { title: '' }],
    ['a blank title', { title: ' \t\n\u00a0' }],
    ['a blank title beside other fields', { title: ' ', description: 'new', published: false }],
  ])('answers 400 Content can not be empty! to %s', async (_, body) => {
    const tutorial = await create(before);
    expect(await send('PUT', `/api/tutorials/${tutorial.id}`, body)).toEqual(
      answer(400, { message: 'Content can not be empty!' }),
    );
    expect(await stored()).toEqual([tutorial]);
  });

  test.each(wrongFields)('answers 400 to %s', async (_, fields, message) => {
    const tutorial = await create(before);
    expect(await send('PUT', `/api/tutorials/${tutorial.id}`, { title: 'new', ...fields })).toEqual(
      answer(400, { message }),
    );
    expect(await stored()).toEqual([tutorial]);
  });

  test('checks the body before it looks for the tutorial', async () => {
    for (const body of [{}, { title: ' ' }, { published: 'x' }]) {
      expect((await send('PUT', `/api/tutorials/${missingId}`, body)).status).toBe(400);
    }
  });
});

describe('DELETE /api/tutorials/:id', () => {
  test('removes the tutorial for good', async () => {
    const { id } = await create();
    expect(await send('DELETE', `/api/tutorials/${id}`)).toEqual(
      answer(200, { message: 'Tutorial was deleted successfully!' }),
    );
    expect((await send('GET', `/api/tutorials/${id}`)).status).toBe(404);
    expect((await send('DELETE', `/api/tutorials/${id}`)).status).toBe(404);
    expect(await stored()).toEqual([]);
  });

  test('works with content type JSON and no body', async () => {
    const { id } = await create();
    expect(await send('DELETE', `/api/tutorials/${id}`, undefined, { 'content-type': 'application/json' })).toEqual(
      answer(200, { message: 'Tutorial was deleted successfully!' }),
    );
    expect(await stored()).toEqual([]);
  });

  test('removes no other tutorial', async () => {
    const [tutorial, other] = [await create(), await create()];
    await send('DELETE', `/api/tutorials/${tutorial.id}`);
    expect(await stored()).toEqual([other]);
  });
});

describe('DELETE /api/tutorials', () => {
  test.each([0, 1, 3])('removes all tutorials and answers how many: %i', async (count) => {
    for (let n = 0; n < count; n += 1) await create({ published: n % 2 === 0 });
    expect(await send('DELETE', '/api/tutorials')).toEqual(
      answer(200, { message: `${count} Tutorials were deleted successfully!` }),
    );
    expect(await send('GET', '/api/tutorials')).toEqual(answer(200, []));
  });

  test('removes all tutorials while somebody reads the table for long, as a backup does', async () => {
    await create();
    await service.db.transaction().execute(async (backup) => {
      await backup.selectFrom('tutorial').select('id').execute();
      expect(await send('DELETE', '/api/tutorials')).toEqual(
        answer(200, { message: '1 Tutorials were deleted successfully!' }),
      );
    });
    expect(await stored()).toEqual([]);
  });

  test('leaves connections to readers when twenty wait for a locked table at once', async () => {
    await create();
    let deletions: Promise<unknown>[] = [];
    await service.db.transaction().execute(async (locking) => {
      await sql`lock table tutorial in share mode`.execute(locking);
      deletions = Array.from({ length: 20 }, () => send('DELETE', '/api/tutorials'));
      const waiting = sql`select from pg_locks where relation = 'tutorial'::regclass and not granted`;
      while ((await waiting.execute(locking)).rows.length === 0);
      for (let turn = 0; turn < 20; turn += 1) expect(await stored()).toHaveLength(1);
      const text = await (await fetch(`${service.url}/metrics`)).text();
      expect(Number(/^database_pool_connections\{state="in_use"\} (\d+)$/m.exec(text)![1])).toBeLessThanOrEqual(3);
    });
    await Promise.all(deletions);
  });

  test('removes all tutorials while others change some of them', async () => {
    const count = 20_000;
    for (let turn = 0; turn < 5; turn += 1) {
      for (let part = 0; part < 10; part += 1)
        await sql`insert into tutorial (title, description) select 'a', '' from generate_series(1, ${sql.lit(count / 10)})`.execute(
          service.db,
        );
      const [first, second] = await service.db.selectFrom('tutorial').select('id').limit(2).execute();
      const removed = send('DELETE', '/api/tutorials');
      const change = ({ id }: { id: number }) => send('PUT', `/api/tutorials/${id}`, { title: 'b' });
      const over = removed.then(() => []);
      while ((await Promise.race([over, Promise.all([change(first!), change(second!)])])).length > 0);
      expect(await removed).toEqual(answer(200, { message: `${count} Tutorials were deleted successfully!` }));
    }
  });

  test('works with content type JSON and no body', async () => {
    await create();
    expect(await send('DELETE', '/api/tutorials', undefined, { 'content-type': 'application/json' })).toEqual(
      answer(200, { message: '1 Tutorials were deleted successfully!' }),
    );
    expect(await stored()).toEqual([]);
  });

  test('removes all tutorials, whatever the query', async () => {
    await create();
    await create({ title: 'other' });
    expect((await send('DELETE', '/api/tutorials?title=other')).body).toEqual({
      message: '2 Tutorials were deleted successfully!',
    });
  });

  test('gives no id a second time', async () => {
    const { id } = await create();
    await send('DELETE', '/api/tutorials');
    expect((await create()).id).toBeGreaterThan(id);
  });

  test('counts each tutorial once while others create, read and remove', async () => {
    const turns = Array.from({ length: 40 }, (_, n) => n);
    const answers = await Promise.all(
      turns.map(async (n) => {
        if (n % 4 === 3) return send('DELETE', '/api/tutorials');
        const [created] = await Promise.all([send('POST', '/api/tutorials', { title: 'a' }), titles()]);
        return created;
      }),
    );
    const removed = answers
      .filter(({ status }) => status === 200)
      .map(({ body }) => parseInt((body as { message: string }).message, 10));
    expect(removed).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(30);
    const left = await stored();
    expect(removed.reduce((sum, count) => sum + count, left.length)).toBe(30);
  });
});

const whenMissing: Record<string, (id: string) => string> = {
  GET: (id) => `Cannot find Tutorial with id=${id}.`,
  PUT: (id) => `Cannot update Tutorial with id=${id}. Maybe Tutorial was not found or req.body is empty!`,
  DELETE: (id) => `Cannot delete Tutorial with id=${id}. Maybe Tutorial was not found!`,
};

describe.each(['GET', 'PUT', 'DELETE'])('%s by id', (method) => {
  const body = method === 'PUT' ? { title: 'new' } : undefined;

  test.each([
    '0',
    '00',
    '007000000000',
    `${missingId}`,
    '2147483648',
    '9007199254740993',
    '9223372036854775808',
    `1${'0'.repeat(30)}`,
    '9'.repeat(3_000),
  ])('answers 404 with id=N as it was written to %s', async (id) => {
    const tutorial = await create();
    expect(await send(method, `/api/tutorials/${id}`, body)).toEqual(
      answer(404, { message: whenMissing[method]!(id) }),
    );
    expect(await stored()).toEqual([tutorial]);
  });

  test.each(['abc', '-1', '+1', '1e3', '1.5', '0x10', '12abc', '%20', '1%00', 'NaN', '%F0%9F%98%80', "1'--", '٣'])(
    'answers 400 Invalid id to %s',
    async (id) => {
      const tutorial = await create();
      expect(await send(method, `/api/tutorials/${id}`, body)).toEqual(answer(400, { message: 'Invalid id' }));
      expect(await stored()).toEqual([tutorial]);
    },
  );
});

describe('/api/tutorials/published', () => {
  test.each(['PUT', 'DELETE'])('is no tutorial: %s answers 400 Invalid id', async (method) => {
    const tutorial = await create({ published: true });
    const body = method === 'PUT' ? { title: 'new' } : undefined;
    expect(await send(method, '/api/tutorials/published', body)).toEqual(answer(400, { message: 'Invalid id' }));
    expect(await stored()).toEqual([tutorial]);
  });
});

describe('All paths', () => {
  test('with a trailing slash answer like those without', async () => {
    const { body } = await send('POST', '/api/tutorials/', { title: 'a', published: true });
    const { id } = body as Tutorial;
    expect((await send('GET', '/api/tutorials/')).body).toEqual([body]);
    expect((await send('GET', '/api/tutorials/?title=b')).body).toEqual([]);
    expect((await send('GET', '/api/tutorials/published/')).body).toEqual([body]);
    expect((await send('GET', `/api/tutorials/${id}/`)).body).toEqual(body);
    expect((await send('PUT', `/api/tutorials/${id}/`, { title: 'b' })).status).toBe(200);
    expect((await send('DELETE', `/api/tutorials/${id}/`)).status).toBe(200);
    expect((await send('DELETE', '/api/tutorials/')).body).toEqual({
      message: '0 Tutorials were deleted successfully!',
    });
  });

  test('answer HEAD where they answer GET, without a body', async () => {
    const { id } = await create({ published: true });
    const paths = ['', '?title=fast', '/published', `/${id}`].map((rest) => `/api/tutorials${rest}`);
    for (const path of [...paths, '/livez', '/readyz']) {
      const [head, get] = [await send('HEAD', path), await send('GET', path)];
      expect([head.status, head.body]).toEqual([200, undefined]);
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    }
    expect((await send('HEAD', `/api/tutorials/${missingId}`)).status).toBe(404);
  });

  test.each([
    ['GET', '/'],
    ['GET', '/api'],
    ['GET', '/api/tutorial'],
    ['GET', '/api/tutorials/1/2'],
    ['PATCH', '/api/tutorials/1'],
    ['PUT', '/api/tutorials'],
    ['POST', '/api/tutorials/1'],
    ['POST', '/api/tutorials/published'],
  ])('answer 404 Not found to %s %s, which the service does not have', async (method, path) => {
    expect(await send(method, path)).toEqual(answer(404, { message: 'Not found' }));
  });

  test('answer 500 with a message and nothing else when the database fails', async () => {
    await service.db.schema.alterTable('tutorial').renameTo('gone').execute();
    try {
      for (const [method, path, body] of [
        ['GET', '/api/tutorials'],
        ['GET', '/api/tutorials?title=a'],
        ['GET', '/api/tutorials/published'],
        ['POST', '/api/tutorials', { title: 'a' }],
        ['GET', '/api/tutorials/1'],
        ['PUT', '/api/tutorials/1', { title: 'a' }],
        ['DELETE', '/api/tutorials/1'],
        ['DELETE', '/api/tutorials'],
      ] as const) {
        expect(await send(method, path, body)).toEqual(answer(500, { message: 'Internal Server Error' }));
      }
    } finally {
      await service.db.schema.alterTable('gone').renameTo('tutorial').execute();
    }
  });
});
