import { beforeEach, describe, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';
import { sql, type Selectable } from 'kysely';
import type { TutorialsDatabase } from '../src/database.ts';

const service = await startService<TutorialsDatabase>('dist/main.js');
beforeEach(() => service.db.deleteFrom('tutorial').execute());

type Tutorial = Selectable<TutorialsDatabase['tutorial']>;

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
  [{ description: 12 }, 'Description must be a string'],
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

  const untitled = [undefined, {}, { description: 'a', published: true }, { title: null }, { title: ' '.repeat(256) }];
  test.each(untitled)('answers 400 Content can not be empty! to %j', async (body) => {
    expect(await send('POST', '/api/tutorials', body)).toEqual(message(400, 'Content can not be empty!'));
    expect(await stored()).toEqual([]);
  });

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
    const one = await startService('dist/main.js');
    const added = sql`select 'a', n = 15000 from generate_series(1, 20000) n`;
    await sql`insert into tutorial (title, published) ${added}`.execute(one.db);
    const { body } = await one.request('GET', '/api/tutorials/published');
    expect((body as Tutorial[]).map(({ id }) => id)).toEqual([15_000]);
    // A session has reported all that it has read when it has ended.
    one.child.kill('SIGKILL');
    const sessions = sql`select from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;
    while ((await sessions.execute(one.db)).rows.length > 0);
    const { rows } = await sql<{ count: number }>`
      select seq_tup_read + idx_tup_fetch as count from pg_stat_user_tables where relname = 'tutorial'`.execute(one.db);
    expect(rows[0]!.count).toBeLessThan(10);
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

  const empty = [undefined, {}, { id: 7 }, { Title: 'y' }, { title: null, description: null, published: null }];
  test.each(empty)('answers 400 Data to update can not be empty! to %j', async (body) => {
    const tutorial = await create(before);
    const response = await send('PUT', `/api/tutorials/${tutorial.id}`, body);
    expect(response).toEqual(message(400, 'Data to update can not be empty!'));
    expect(await stored()).toEqual([tutorial]);
  });

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

describe('DELETE /api/tutorials', () => {
  const removed = (count: number) => message(200, `${count} Tutorials were deleted successfully!`);

  test('The message says how many have been removed, whatever the query, and no id comes back', async () => {
    const ids = [await create(), await create({ published: true })].map(({ id }) => id);
    expect(await send('DELETE', '/api/tutorials?title=a')).toEqual(removed(2));
    expect(await send('DELETE', '/api/tutorials')).toEqual(removed(0));
    expect((await create()).id).toBeGreaterThan(Math.max(...ids));
  });

  test('All are removed while somebody reads the table for long, as a backup does', async () => {
    await create();
    await service.db.transaction().execute(async (backup) => {
      await backup.selectFrom('tutorial').select('id').execute();
      expect(await send('DELETE', '/api/tutorials')).toEqual(removed(1));
    });
    expect(await stored()).toEqual([]);
  });

  test('Twenty that wait for a locked table leave connections to readers', async () => {
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

  test('All are removed while others change some of them', async () => {
    const count = 20_000;
    for (let turn = 0; turn < 5; turn += 1) {
      await sql`insert into tutorial (title) select 'a' from generate_series(1, ${sql.lit(count)})`.execute(service.db);
      const [first, second] = await service.db.selectFrom('tutorial').select('id').limit(2).execute();
      const removal = send('DELETE', '/api/tutorials');
      const change = ({ id }: { id: number }) => send('PUT', `/api/tutorials/${id}`, { title: 'b' });
      const over = removal.then(() => []);
      while ((await Promise.race([over, Promise.all([change(first!), change(second!)])])).length > 0);
      expect(await removal).toEqual(removed(count));
    }
  });

  test('Each tutorial is counted once while others create, read and remove', async () => {
    const post = () => send('POST', '/api/tutorials', { title: 'a' });
    const turn = () => [post(), send('GET', '/api/tutorials'), post(), post(), send('DELETE', '/api/tutorials')];
    const answers = await Promise.all(Array.from({ length: 10 }, turn).flat());
    // On a busy machine, a 503 has done nothing.
    expect([200, 201, 503]).toEqual(expect.arrayContaining(answers.map(({ status }) => status)));
    const { length: created } = answers.filter(({ status }) => status === 201);
    const removals = answers.map(({ body }) => Number.parseInt((body as { message?: string }).message ?? '', 10) || 0);
    expect(removals.reduce((sum, count) => sum + count, (await stored()).length)).toBe(created);
  });
});

const whenMissing: Record<string, (id: string) => string> = {
  GET: (id) => `Cannot find Tutorial with id=${id}.`,
  PUT: (id) => `Cannot update Tutorial with id=${id}. Maybe Tutorial was not found or req.body is empty!`,
  DELETE: (id) => `Cannot delete Tutorial with id=${id}. Maybe Tutorial was not found!`,
};

describe.each(['GET', 'PUT', 'DELETE'])('%s by id', (method) => {
  const body = method === 'PUT' ? { title: 'new' } : undefined;

  const absentIds = ['0', '007000000000', '9223372036854775808', `1${'0'.repeat(30)}`];
  test.each(absentIds)('answers 404 with id=N as it was written to %s', async (id) => {
    const tutorial = await create();
    expect(await send(method, `/api/tutorials/${id}`, body)).toEqual(message(404, whenMissing[method]!(id)));
    expect(await stored()).toEqual([tutorial]);
  });

  test.each(['abc', '-1', '12abc', '1%2F2', 'Published', '1%00'])('answers 400 Invalid id to %s', async (id) => {
    const tutorial = await create();
    expect(await send(method, `/api/tutorials/${id}`, body)).toEqual(message(400, 'Invalid id'));
    expect(await stored()).toEqual([tutorial]);
  });
});
