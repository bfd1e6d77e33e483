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

const stored = () => service.db.selectFrom('tutorial').selectAll().orderBy('id').execute();
const answer = (status: number, body: unknown) => expect.objectContaining({ status, body });
const message = (status: number, message: string) => answer(status, { message });
const updated = message(200, 'Tutorial was updated successfully.');
const missingId = 2 ** 40;

/** What POST and PUT refuse alike, with the message. */
const wrongFields: [object, string][] = [
  [{ title: '' }, 'Content can not be empty!'],
  [{ title: ' \t\n\u00a0', description: 'new' }, 'Content can not be empty!'],
  [{ title: 12 }, 'Title must be a string'],
  [{ title: '😀'.repeat(256) }, 'Title must be at most 255 characters'],
  [{ title: 'a\0' }, 'Title must not contain NUL or unpaired surrogates'],
  [{ description: 12 }, 'Description must be a string'],
  [{ description: 'a\0' }, 'Description must not contain NUL or unpaired surrogates'],
  [{ published: 'true' }, 'Published must be a boolean'],
];

describe('POST /api/tutorials', () => {
  test('answers 201 with the whole tutorial, and stores it', async () => {
    const fields = { title: 'Fastify', description: 'Routes', published: true };
    const response = await send('POST', '/api/tutorials', fields);
    expect(response).toEqual(answer(201, { id: expect.any(Number), ...fields }));
    expect(await stored()).toEqual([response.body]);
  });

  test.each([{}, { description: null, published: null }, { id: missingId, extra: { b: 1 } }])(
    'defaults description to "" and published to false, and ignores the rest: %j',
    async (fields) => {
      const tutorial = await create(fields as object);
      expect(tutorial).toEqual({ id: expect.any(Number), title: 'Fastify', description: '', published: false });
      expect(tutorial.id).not.toBe(missingId);
    },
  );

  test.each([undefined, {}, { description: 'a', published: true }, { title: null }, { title: ' '.repeat(256) }])(
    'answers 400 Content can not be empty! to %j',
    async (body) => {
      expect(await send('POST', '/api/tutorials', body)).toEqual(message(400, 'Content can not be empty!'));
      expect(await stored()).toEqual([]);
    },
  );

  test.each(wrongFields)('answers 400 to %j and stores nothing: %s', async (fields, text) => {
    expect(await send('POST', '/api/tutorials', { title: 'Fastify', ...fields })).toEqual(message(400, text));
    expect(await stored()).toEqual([]);
  });
});

test('GET /api/tutorials answers all tutorials as a bare array by id, also after a PUT', async () => {
  expect(await send('GET', '/api/tutorials')).toEqual(answer(200, []));
  const tutorials = [await create(), await create({ description: 'b', published: true })];
  await send('PUT', `/api/tutorials/${tutorials[0]!.id}`, { published: false });
  expect(await send('GET', '/api/tutorials')).toEqual(answer(200, tutorials));
});

describe('GET /api/tutorials/published', () => {
  test('answers all fields of the published tutorials by id, as PUT sets and clears the flag', async () => {
    const [first, second, third] = [await create({ published: true }), await create(), await create()];
    await send('PUT', `/api/tutorials/${third.id}`, { published: true });
    await send('PUT', `/api/tutorials/${first.id}`, { published: true });
    for (const query of ['', '/', '?title=zzz'])
      expect(await send('GET', `/api/tutorials/published${query}`)).toEqual(
        answer(200, [first, { ...third, published: true }]),
      );
    await send('PUT', `/api/tutorials/${first.id}`, { published: false });
    await send('DELETE', `/api/tutorials/${second.id}`);
    expect((await send('GET', '/api/tutorials/published')).body).toEqual([{ ...third, published: true }]);
  });

  test('reads no tutorials that are not published, however many there are', async () => {
    const one = await startService('dist/main.js', { DATABASE_POOL_MAX: '1' });
    await sql`insert into tutorial (title, published) select 'a', n = 15000 from generate_series(1, 20000) n`.execute(
      one.db,
    );
    const before = await rowsRead();
    const { body } = await one.request('GET', '/api/tutorials/published');
    expect((body as Tutorial[]).map(({ id }) => id)).toEqual([15_000]);
    expect((await rowsRead()) - before).toBeLessThan(10);

    async function rowsRead() {
      await sql`select pg_stat_force_next_flush()`.execute(one.db);
      const { rows } = await sql<{ count: number }>`
        select seq_tup_read + idx_tup_fetch as count from pg_stat_user_tables where relname = 'tutorial'`.execute(
        one.db,
      );
      return rows[0]!.count;
    }
  });
});

test('GET /api/tutorials/:id takes leading zeros and percent-encoded digits', async () => {
  const tutorial = await create({ description: 'Routes', published: true });
  for (const id of [tutorial.id, `000${tutorial.id}`, String(tutorial.id).replaceAll(/\d/g, '%3$&')])
    expect(await send('GET', `/api/tutorials/${id}`)).toEqual(answer(200, tutorial));
});

describe('PUT /api/tutorials/:id', () => {
  const before = { title: 'Fastify', description: 'Routes', published: true };

  test.each<[object, Partial<Tutorial>]>([
    [{ title: ' new ' }, { title: ' new ' }],
    [{ description: '' }, { description: '' }],
    [{ published: false }, { published: false }],
    [{ title: 'new', description: null, published: null }, { title: 'new' }],
    [{ title: null, published: false }, { published: false }],
    [{ id: missingId, title: 'new', createdAt: 1 }, { title: 'new' }],
    [{ ...before, id: 1, published: false }, { published: false }],
  ])('changes only the fields that are present: %j', async (body, changes) => {
    const [tutorial, other] = [await create(before), await create({ title: 'other' })];
    expect(await send('PUT', `/api/tutorials/${tutorial.id}`, body)).toEqual(updated);
    expect(await stored()).toEqual([{ ...tutorial, ...changes }, other]);
  });

  test.each([undefined, {}, { id: 7 }, { name: 'x', Title: 'y' }, { title: null, description: null, published: null }])(
    'answers 400 Data to update can not be empty! to %j',
    async (body) => {
      const tutorial = await create(before);
      const response = await send('PUT', `/api/tutorials/${tutorial.id}`, body);
      expect(response).toEqual(message(400, 'Data to update can not be empty!'));
      expect(await stored()).toEqual([tutorial]);
    },
  );

  test.each(wrongFields)('answers 400 to %j and changes nothing: %s', async (fields, text) => {
    const tutorial = await create(before);
    const response = await send('PUT', `/api/tutorials/${tutorial.id}`, { title: 'new', ...fields });
    expect(response).toEqual(message(400, text));
    expect(await stored()).toEqual([tutorial]);
  });

  test('checks the body before it looks for the tutorial', async () => {
    for (const body of [{}, { title: ' ' }, { published: 'x' }])
      expect((await send('PUT', `/api/tutorials/${missingId}`, body)).status).toBe(400);
    expect(await send('PUT', '/api/tutorials/abc', {})).toEqual(message(400, 'Invalid id'));
  });
});

test('DELETE /api/tutorials/:id removes the tutorial for good, and no other', async () => {
  const [{ id }, other] = [await create(), await create()];
  expect(await send('DELETE', `/api/tutorials/${id}`)).toEqual(message(200, 'Tutorial was deleted successfully!'));
  expect(await stored()).toEqual([other]);
});

const whenMissing: Record<string, (id: string) => string> = {
  GET: (id) => `Cannot find Tutorial with id=${id}.`,
  PUT: (id) => `Cannot update Tutorial with id=${id}. Maybe Tutorial was not found or req.body is empty!`,
  DELETE: (id) => `Cannot delete Tutorial with id=${id}. Maybe Tutorial was not found!`,
};

describe.each(['GET', 'PUT', 'DELETE'])('%s by id', (method) => {
  const body = method === 'PUT' ? { title: 'new' } : undefined;

  test.each(['0', '007000000000', '9223372036854775808', `1${'0'.repeat(30)}`])(
    'answers 404 with id=N as it was written to %s',
    async (id) => {
      // The last id that JavaScript holds exactly.
      const last = { id: Number.MAX_SAFE_INTEGER, title: 'last', description: '', published: false };
      await sql`insert into tutorial (id, title) overriding system value values (${last.id}, 'last')`.execute(
        service.db,
      );
      expect(await send(method, `/api/tutorials/${id}`, body)).toEqual(message(404, whenMissing[method]!(id)));
      expect(await stored()).toEqual([last]);
    },
  );

  test.each(['abc', '-1', '12abc', '1%2F2', 'Published', '1%00'])('answers 400 Invalid id to %s', async (id) => {
    const tutorial = await create();
    expect(await send(method, `/api/tutorials/${id}`, body)).toEqual(message(400, 'Invalid id'));
    expect(await stored()).toEqual([tutorial]);
  });
});

test.each([
  ['GET', '/'],
  ['GET', '/API/tutorials'],
  ['GET', '/api/tutorials/1/2'],
  ['POST', '/api/tutorials/published'],
  ['PUT', '/api/tutorials'],
  ['PATCH', '/api/tutorials/1'],
])('%s %s is 404 Not found', async (method, path) => {
  expect(await send(method, path)).toEqual(message(404, 'Not found'));
});

test('A storage failure is 500 with a message and nothing else, on any operation', async () => {
  const requests: Parameters<typeof send>[] = [
    ['GET', '/api/tutorials'],
    ['GET', '/api/tutorials?title=a'],
    ['GET', '/api/tutorials/published'],
    ['POST', '/api/tutorials', { title: 'a' }],
    ['GET', '/api/tutorials/1'],
    ['PUT', '/api/tutorials/1', { title: 'a' }],
    ['DELETE', '/api/tutorials/1'],
    ['DELETE', '/api/tutorials'],
  ];
  await service.db.schema.alterTable('tutorial').renameTo('gone').execute();
  const responses = [];
  for (const request of requests) responses.push(await send(...request));
  await service.db.schema.alterTable('gone').renameTo('tutorial').execute();
  for (const response of responses) expect(response).toEqual(message(500, 'Internal Server Error'));
});
