import { beforeEach, describe, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';
import { sql } from 'kysely';
import type { ItemsDatabase } from '../src/database.ts';

const service = await startService<ItemsDatabase>('dist/main.js');
beforeEach(() => service.db.deleteFrom('item').execute());

const send = (...args: Parameters<typeof service.request>) => service.request(...args);

async function create(title = 'Buy milk') {
  const { body } = await send('POST', '/v1/items', { title });
  return (body as { id: number }).id;
}

async function read(id: number) {
  const { body } = await send('GET', `/v1/items/${id}`);
  return body as { id: number; title: string; status: string; created_at: string; updated_at: string };
}

async function list(query = '') {
  const { body } = await send('GET', `/v1/items${query}`);
  return (body as { id: number }[]).map(({ id }) => id);
}

/** Ids of all items. */
async function storedIds() {
  const rows = await service.db.selectFrom('item').select('id').orderBy('id').execute();
  return rows.map(({ id }) => id);
}

const answer = (status: number, body: unknown) => expect.objectContaining({ status, body });
const missingId = 2 ** 40;

describe('POST /v1/items', () => {
  test('stores an item in status Doing, with both timestamps set', async () => {
    const before = Date.now() - 1_000;
    const item = await read(await create());
    expect(item).toMatchObject({
      id: item.id,
      title: 'Buy milk',
      status: 'Doing',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: item.created_at,
    });
    expect(Date.parse(item.created_at)).toBeGreaterThan(before);
  });

  test('gives increasing ids', async () => {
    const ids = [await create(), await create(), await create()];
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  });

  test.each([
    [{}, 'Title cannot be empty'],
    [{ title: null }, 'Title cannot be empty'],
    [{ title: '' }, 'Title cannot be empty'],
    [{ title: ' \t\n\u00a0'.repeat(151) }, 'Title cannot be empty'],
    [undefined, 'Title cannot be empty'],
    [{ title: 12 }, 'Title must be a string'],
    [{ title: 'x'.repeat(151) }, 'Title must be at most 150 characters'],
    [{ title: 'a\0' }, 'Title must not contain NUL or unpaired surrogates'],
  ])('answers 400 to %j and stores nothing: %s', async (body, message) => {
    expect(await send('POST', '/v1/items', body)).toEqual(answer(400, { message }));
    expect(await storedIds()).toEqual([]);
  });

  test('ignores a status, an id and unknown properties in the body', async () => {
    await send('POST', '/v1/items', { title: 'a', status: 'Finished', id: missingId, extra: { b: 1 } });
    const [id] = await storedIds();
    expect(id).not.toBe(missingId);
    expect(await read(id!)).toMatchObject({ title: 'a', status: 'Doing' });
  });
});

describe('GET /v1/items', () => {
  describe('of 25 items', () => {
    let ids: number[];
    beforeEach(async () => {
      await sql`insert into item (title) select 'item ' || n from generate_series(1, 25) n`.execute(service.db);
      ids = await storedIds();
    });

    test('answers 10 by id, also after an update, from the offset (page - 1) * limit', async () => {
      await send('PUT', `/v1/items/${ids[0]}`, { title: 'changed' });
      const { body } = await send('GET', '/v1/items');
      expect((body as unknown[])[1]).toEqual(await read(ids[1]!));
      expect(await list()).toEqual(ids.slice(0, 10));
      expect(await list('?page=2')).toEqual(ids.slice(10, 20));
      expect(await list('?page=3')).toEqual(ids.slice(20));
      expect(await list('?page=4&limit=7')).toEqual(ids.slice(21));
      expect(await list('?limit=3')).toEqual(ids.slice(0, 3));
    });

    test.each(['0', '-1', '2.5', '1e3', 'abc', '', '+2', '%00'])('ignores %j as page and limit', async (value) => {
      expect(await list(`?page=${value}&limit=3`)).toEqual(await list('?limit=3'));
      expect(await list(`?page=2&limit=${value}`)).toEqual(await list('?page=2'));
    });

    test('answers [] to a page past the end, however large', async () => {
      for (const page of ['4', '2147483648', '9'.repeat(400)]) {
        expect(await send('GET', `/v1/items?page=${page}`)).toEqual(answer(200, []));
      }
    });

    test('does not clamp limit, however large', async () => {
      for (const limit of ['25', '10000000', '9'.repeat(400)]) {
        expect(await list(`?limit=${limit}`)).toEqual(ids);
      }
    });

    test('leads to the other pages in Link and counts all items in X-Total-Count, HEAD too', async () => {
      const link = (relation: string, page: number) => `<?page=${page}&limit=10>; rel="${relation}"`;
      for (const method of ['GET', 'HEAD']) {
        const { headers } = await send(method, '/v1/items?page=2&limit=10');
        const links = [link('first', 1), link('prev', 1), link('next', 3), link('last', 3)].join(', ');
        expect([headers.get('link'), headers.get('x-total-count')]).toEqual([links, '25']);
      }
    });

    test('uses the first value of a repeated parameter, and ignores others', async () => {
      expect(await list('?page=2&page=1&limit=5&limit=9')).toEqual(await list('?page=2&limit=5'));
      expect(await list('?other=2&page[]=2&Limit=1')).toEqual(await list());
    });
  });
});

test('GET /v1/items/summary counts finished items and all, after every change', async () => {
  const expectSummary = async (finished: number, total: number) =>
    expect(await send('GET', '/v1/items/summary')).toEqual(answer(200, { finished, total }));
  await expectSummary(0, 0);
  const [first, second] = [await create(), await create()];
  await send('PUT', `/v1/items/${first}`, { status: 'Finished', title: 'new' });
  await expectSummary(1, 2);
  await send('PUT', `/v1/items/${second}`, { status: 'Finished' });
  await send('PUT', `/v1/items/${second}`, { status: 'Finished' });
  await expectSummary(2, 2);
  await send('PUT', `/v1/items/${second}`, { status: 'Doing' });
  await send('DELETE', `/v1/items/${first}`);
  await send('DELETE', `/v1/items/${first}`);
  await expectSummary(0, 1);
});

describe('PUT /v1/items/:id', () => {
  test.each([
    ['the title alone', { title: 'new' }, { title: 'new', status: 'Doing' }],
    ['the status alone', { status: 'Finished' }, { title: 'Buy milk', status: 'Finished' }],
    ['both', { title: 'new', status: 'Finished' }, { title: 'new', status: 'Finished' }],
    ['the status, without a null title', { title: null, status: 'Finished' }, { title: 'Buy milk' }],
    ['the status, without a blank title', { title: ' '.repeat(200), status: 'Finished' }, { title: 'Buy milk' }],
    ['the title, without an empty status', { title: 'new', status: '' }, { title: 'new', status: 'Doing' }],
    ['the title, without a null status', { title: 'new', status: null }, { title: 'new', status: 'Doing' }],
  ])('changes %s', async (_, body, expected) => {
    const id = await create();
    expect(await send('PUT', `/v1/items/${id}`, body)).toEqual(answer(200, { message: 'Item updated successfully' }));
    expect(await read(id)).toMatchObject(expected);
  });

  test('refreshes updated_at, to no earlier time, and keeps created_at', async () => {
    const id = await create();
    const [longAgo, ahead] = ['1970-01-01T00:00:00.000Z', '2100-01-01T00:00:00.000Z'];
    const changedAfter = async (updated_at: string) => {
      await service.db.updateTable('item').set({ created_at: longAgo, updated_at }).execute();
      await send('PUT', `/v1/items/${id}`, { title: 'Buy milk' });
      return read(id);
    };
    const { created_at, updated_at } = await changedAfter(longAgo);
    expect(created_at).toBe(longAgo);
    expect(Date.now() - Date.parse(updated_at)).toBeLessThan(60_000);
    // As after a clock that was set back, or a wait for a change that began later.
    expect((await changedAfter(ahead)).updated_at).toBe(ahead);
  });

  test('accepts the whole row that was read, and changes no other', async () => {
    const [row, other] = [await read(await create()), await read(await create('other'))];
    expect((await send('PUT', `/v1/items/${row.id}`, { ...row, title: 'new' })).status).toBe(200);
    expect(await read(row.id)).toEqual({ ...row, title: 'new', updated_at: expect.any(String) });
    expect(await read(other.id)).toEqual(other);
  });

  test.each([
    [{}, 'Nothing to update'],
    [{ name: 'x', id: 7 }, 'Nothing to update'],
    [{ title: null, status: '' }, 'Nothing to update'],
    [{ title: ' ', status: null }, 'Nothing to update'],
    [{ title: 'new', status: 'doing' }, 'Status must be Doing or Finished'],
    [{ title: 'x'.repeat(151) }, 'Title must be at most 150 characters'],
    [{ title: 5 }, 'Title must be a string'],
  ])('answers 400 to %j and changes nothing: %s', async (body, message) => {
    const id = await create();
    const before = await read(id);
    expect(await send('PUT', `/v1/items/${id}`, body)).toEqual(answer(400, { message }));
    expect(await read(id)).toEqual(before);
  });

  test('checks the body before it looks for the item', async () => {
    expect(await send('PUT', `/v1/items/${missingId}`, {})).toEqual(answer(400, { message: 'Nothing to update' }));
    expect((await send('PUT', `/v1/items/${missingId}`, { status: 'x' })).status).toBe(400);
    expect(await send('PUT', '/v1/items/abc', {})).toEqual(answer(400, { message: 'Invalid id' }));
  });
});

test('DELETE /v1/items/:id removes the item for good, and no other', async () => {
  const [id, other] = [await create(), await create()];
  expect(await send('DELETE', `/v1/items/${id}`)).toEqual(answer(200, { message: 'Item deleted successfully' }));
  expect(await send('GET', `/v1/items/${id}`)).toEqual(answer(404, { message: 'Item not found' }));
  expect(await storedIds()).toEqual([other]);
  await send('DELETE', `/v1/items/${other}`);
  expect(await send('GET', '/v1/items')).toEqual(answer(200, []));
});

describe.each(['GET', 'PUT', 'DELETE'])('%s by id', (method) => {
  const body = method === 'PUT' ? { title: 'new' } : undefined;

  test.each(['0', `${missingId}`, '9223372036854775808', `1${'0'.repeat(30)}`])('answers 404 to %s', async (id) => {
    await create();
    expect(await send(method, `/v1/items/${id}`, body)).toEqual(answer(404, { message: 'Item not found' }));
    expect(await storedIds()).toHaveLength(1);
  });

  const notIds = ['abc', '-1', '1e3', '1.5', '0x10', '12abc', '1%2F2', '/', 'Summary', '%20', '1%00', "1'--", '٣'];
  test.each(notIds)('answers 400 Invalid id to %s', async (id) => {
    await create();
    expect(await send(method, `/v1/items/${id}`, body)).toEqual(answer(400, { message: 'Invalid id' }));
    expect(await storedIds()).toHaveLength(1);
  });
});
