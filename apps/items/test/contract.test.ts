import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';
import { sql } from 'kysely';
import type { ItemsDatabase } from '../src/database.ts';

const service = await startService<ItemsDatabase>('dist/main.js');
afterAll(() => service.stop());
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

const answer = (status: number, body: unknown) => expect.objectContaining({ status, body });
const missingId = 2 ** 40;

describe('POST /v1/items', () => {
  test('answers 201 with the id of the new item', async () => {
    const response = await send('POST', '/v1/items', { title: 'Buy milk' });
    expect(response).toEqual(answer(201, { id: expect.any(Number) }));
  });

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
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(new Set(ids).size).toBe(3);
  });

  test.each([
    ['a missing title', {}],
    ['a null title', { title: null }],
    ['an empty title', { title: '' }],
    ['a blank title', { title: ' \t\n\u00a0' }],
    ['a blank title that is too long', { title: ' '.repeat(151) }],
  ])('answers 400 Title cannot be empty to %s', async (_, body) => {
    expect(await send('POST', '/v1/items', body)).toEqual(answer(400, { message: 'Title cannot be empty' }));
    expect(await list()).toEqual([]);
  });

  test.each([
    ['a number', 12],
    ['a boolean', true],
    ['a list', ['a']],
    ['an object', { a: 1 }],
  ])('answers 400 Title must be a string to a title that is %s', async (_, title) => {
    expect(await send('POST', '/v1/items', { title })).toEqual(answer(400, { message: 'Title must be a string' }));
    expect(await list()).toEqual([]);
  });

  test('stores a title of 150 characters and answers 400 to one of 151', async () => {
    expect((await read(await create('x'.repeat(150)))).title).toBe('x'.repeat(150));
    expect(await send('POST', '/v1/items', { title: 'x'.repeat(151) })).toEqual(
      answer(400, { message: 'Title must be at most 150 characters' }),
    );
  });

  test('counts a title in code points: 150 emoji fit, 151 do not', async () => {
    expect((await read(await create('😀'.repeat(150)))).title).toBe('😀'.repeat(150));
    expect((await send('POST', '/v1/items', { title: '😀'.repeat(151) })).status).toBe(400);
  });

  test('stores a title as it was sent, not trimmed', async () => {
    const title = '  a\tb\u2028 \\ " \' %s $1 \u{1F469}\u200D\u{1F4BB} é e\u0301 ';
    expect((await read(await create(title))).title).toBe(title);
  });

  test('ignores a status in the body', async () => {
    const { body } = await send('POST', '/v1/items', { title: 'a', status: 'Finished' });
    expect((await read((body as { id: number }).id)).status).toBe('Doing');
  });

  test('ignores unknown properties, prototype keys included', async () => {
    const body = '{"title":"a","id":7,"extra":{"b":1},"__proto__":{"status":"x"},"constructor":{"prototype":{}}}';
    expect((await send('POST', '/v1/items', body)).status).toBe(201);
  });

  test('answers a missing body as an empty object, whatever its content type', async () => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', '']) {
      const response = await fetch(`${service.url}/v1/items`, {
        method: 'POST',
        headers: type ? { 'content-type': type } : {},
      });
      expect([response.status, await response.json()]).toEqual([400, { message: 'Title cannot be empty' }]);
    }
  });
});

describe('GET /v1/items', () => {
  test('answers 200 and an empty array when there are no items', async () => {
    expect(await send('GET', '/v1/items')).toEqual(answer(200, []));
  });

  test('answers all fields of each item', async () => {
    const item = await read(await create());
    expect(await send('GET', '/v1/items')).toEqual(answer(200, [item]));
  });

  describe('of 25 items', () => {
    let ids: number[];
    beforeEach(async () => {
      const titles = Array.from({ length: 25 }, (_, n) => ({ title: `item ${n}` }));
      const rows = await service.db.insertInto('item').values(titles).returning('id').execute();
      ids = rows.map(({ id }) => id).sort((a, b) => a - b);
    });

    test('answers the first 10 by id when neither page nor limit is given', async () => {
      expect(await list()).toEqual(ids.slice(0, 10));
    });

    test('keeps the order by id after an update', async () => {
      await send('PUT', `/v1/items/${ids[0]}`, { title: 'changed' });
      expect(await list()).toEqual(ids.slice(0, 10));
    });

    test('takes its offset as (page - 1) * limit', async () => {
      expect(await list('?page=2')).toEqual(ids.slice(10, 20));
      expect(await list('?page=3')).toEqual(ids.slice(20));
      expect(await list('?page=4&limit=7')).toEqual(ids.slice(21));
      expect(await list('?limit=3')).toEqual(ids.slice(0, 3));
    });

    test.each(['0', '-1', '2.5', '1e3', 'abc', '', '%20', '+1', '0x10', '1%00', '1%ff', 'null', '٣'])(
      'takes the default for page=%s and for limit=%s',
      async (value) => {
        expect(await list(`?page=${value}`)).toEqual(ids.slice(0, 10));
        expect(await list(`?page=2&limit=${value}`)).toEqual(ids.slice(10, 20));
      },
    );

    test('reads leading zeros as decimal digits', async () => {
      expect(await list('?page=002&limit=010')).toEqual(ids.slice(10, 20));
    });

    test('answers [] to a page past the end, however large', async () => {
      for (const page of ['4', '2147483648', '9007199254740993', '99999999999999999999', '9'.repeat(400)]) {
        expect(await send('GET', `/v1/items?page=${page}`)).toEqual(answer(200, []));
      }
    });

    test('does not clamp limit, however large', async () => {
      for (const limit of ['25', '100000', '99999999999999999999', '9'.repeat(400)]) {
        expect(await list(`?limit=${limit}`)).toEqual(ids);
      }
      expect(await list(`?page=2&limit=99999999999999999999`)).toEqual([]);
    });

    test('uses the first value of a repeated parameter', async () => {
      expect(await list('?page=2&page=1&limit=5&limit=9')).toEqual(ids.slice(5, 10));
    });
  });

  describe('Link and X-Total-Count', () => {
    const headers = async (query: string, method = 'GET') => {
      const { headers } = await send(method, `/v1/items${query}`);
      return [headers.get('link'), headers.get('x-total-count')];
    };

    test('lead to the other pages and count all items', async () => {
      expect(await headers('')).toEqual(['<?page=1>; rel="first", <?page=1>; rel="last"', '0']);
      for (let n = 0; n < 12; n += 1) await create();
      expect(await headers('')).toEqual(['<?page=1>; rel="first", <?page=2>; rel="next", <?page=2>; rel="last"', '12']);
      expect(await headers('?page=2&limit=5')).toEqual([
        '<?page=1&limit=5>; rel="first", <?page=1&limit=5>; rel="prev", <?page=3&limit=5>; rel="next", <?page=3&limit=5>; rel="last"',
        '12',
      ]);
    });

    test('lead from past the end to the last page, and leave out what is no page or limit', async () => {
      await create();
      const past = '<?page=1>; rel="first", <?page=1>; rel="prev", <?page=1>; rel="last"';
      expect(await headers('?page=7&limit=0&x=%0d%0ay')).toEqual([past, '1']);
      expect(await headers('/?page=99999999999999999999&limit=abc')).toEqual([past, '1']);
    });

    test('are the same for HEAD, also of a long list', async () => {
      const titles = Array.from({ length: 600 }, () => ({ title: 'a' }));
      await service.db.insertInto('item').values(titles).execute();
      for (const query of ['', '?page=3', '?page=2&limit=300']) {
        expect(await headers(query, 'HEAD')).toEqual(await headers(query));
      }
    });

    test('can be followed from the first page to the last', async () => {
      const titles = Array.from({ length: 23 }, (_, n) => ({ title: `item ${n}` }));
      await service.db.insertInto('item').values(titles).execute();
      const ids: number[] = [];
      for (let path: string | undefined = '?limit=4'; path;) {
        const { body, headers } = await send('GET', `/v1/items${path}`);
        ids.push(...(body as { id: number }[]).map(({ id }) => id));
        path = /<([^>]+)>; rel="next"/.exec(headers.get('link')!)?.[1];
      }
      expect(ids).toEqual(await list('?limit=100'));
      expect(ids).toHaveLength(23);
    });
  });

  test('answers every page of many items exactly, with deletions everywhere', async () => {
    // In parts that the service's timeout for a statement allows on a busy machine, too.
    for (let piece = 0; piece < 6; piece += 1) {
      await sql`insert into item (title) select 'item ' || n from generate_series(1, 5000) n`.execute(service.db);
    }
    await sql`delete from item where id % 3 = 0 or id / 700 % 4 = 1`.execute(service.db);
    const rows = await service.db.selectFrom('item').select('id').orderBy('id').execute();
    const ids = rows.map(({ id }) => id);
    for (const page of [1, 2, 51, 52, 400, 777, Math.ceil(ids.length / 10), Math.ceil(ids.length / 10) + 1]) {
      expect([page, await list(`?page=${page}`)]).toEqual([page, ids.slice((page - 1) * 10, page * 10)]);
    }
    expect(await list('?page=3&limit=4000')).toEqual(ids.slice(8_000, 12_000));
  });

  test.each([249, 250, 251, 1_000, 2_345])(
    'answers %i rows of 2,345 as one JSON array in the order of their ids',
    async (limit) => {
      const titles = Array.from({ length: 2_345 }, (_, n) => ({ title: `"${n}",[]` }));
      const rows = await service.db.insertInto('item').values(titles).returning('id').execute();
      const ids = rows.map(({ id }) => id).sort((a, b) => a - b);
      expect(await list(`?limit=${limit}`)).toEqual(ids.slice(0, limit));
      expect(await list(`?limit=${limit}&page=2`)).toEqual(ids.slice(limit, 2 * limit));
    },
  );
});

describe('GET /v1/items/summary', () => {
  test('answers the number of finished items and of all', async () => {
    expect(await send('GET', '/v1/items/summary')).toEqual(answer(200, { finished: 0, total: 0 }));
    await create();
    await send('PUT', `/v1/items/${await create()}`, { status: 'Finished' });
    expect(await send('GET', '/v1/items/summary')).toEqual(answer(200, { finished: 1, total: 2 }));
  });

  test('follows every change', async () => {
    const summary = async () => (await send('GET', '/v1/items/summary')).body;
    const [first, second] = [await create(), await create()];
    await send('PUT', `/v1/items/${first}`, { status: 'Finished', title: 'new' });
    await send('PUT', `/v1/items/${second}`, { status: 'Finished' });
    await send('PUT', `/v1/items/${second}`, { status: 'Finished' });
    expect(await summary()).toEqual({ finished: 2, total: 2 });
    await send('PUT', `/v1/items/${second}`, { status: 'Doing' });
    await send('DELETE', `/v1/items/${first}`);
    await send('DELETE', `/v1/items/${first}`);
    expect(await summary()).toEqual({ finished: 0, total: 1 });
  });
});

describe('PUT /v1/items/:id', () => {
  test.each([
    ['the title alone', { title: 'new' }, { title: 'new', status: 'Doing' }],
    ['the status alone', { status: 'Finished' }, { title: 'Buy milk', status: 'Finished' }],
    ['both', { title: 'new', status: 'Finished' }, { title: 'new', status: 'Finished' }],
    [
      'the status, a null title counting as not given',
      { title: null, status: 'Finished' },
      { title: 'Buy milk', status: 'Finished' },
    ],
    [
      'the status, a blank title counting as not given',
      { title: ' '.repeat(200), status: 'Finished' },
      { title: 'Buy milk', status: 'Finished' },
    ],
    [
      'the title, an empty status counting as not given',
      { title: 'new', status: '' },
      { title: 'new', status: 'Doing' },
    ],
    [
      'the title, a null status counting as not given',
      { title: 'new', status: null },
      { title: 'new', status: 'Doing' },
    ],
  ])('changes %s', async (_, body, expected) => {
    const id = await create();
    expect(await send('PUT', `/v1/items/${id}`, body)).toEqual(answer(200, { message: 'Item updated successfully' }));
    expect(await read(id)).toMatchObject(expected);
  });

  test('refreshes updated_at and keeps created_at', async () => {
    const id = await create();
    await service.db
      .updateTable('item')
      .set({ created_at: '1970-01-01T00:00Z', updated_at: '1970-01-01T00:00Z' })
      .execute();
    await send('PUT', `/v1/items/${id}`, { title: 'Buy milk' });
    const { created_at, updated_at } = await read(id);
    expect(created_at).toBe('1970-01-01T00:00:00.000Z');
    expect(Date.now() - Date.parse(updated_at)).toBeLessThan(60_000);
  });

  test('sets either status from either', async () => {
    const id = await create();
    for (const status of ['Finished', 'Finished', 'Doing', 'Doing', 'Finished']) {
      expect((await send('PUT', `/v1/items/${id}`, { status })).status).toBe(200);
      expect((await read(id)).status).toBe(status);
    }
  });

  test('changes no other item', async () => {
    const [id, other] = [await create(), await create('other')];
    const before = await read(other);
    await send('PUT', `/v1/items/${id}`, { title: 'new', status: 'Finished' });
    expect(await read(other)).toEqual(before);
  });

  test('accepts the whole row that was read', async () => {
    const id = await create();
    const row = await read(id);
    expect((await send('PUT', `/v1/items/${id}`, { ...row, title: 'new' })).status).toBe(200);
    expect(await read(id)).toMatchObject({ id, title: 'new', created_at: row.created_at });
  });

  test.each([
    ['an empty body', {}],
    ['unknown properties alone', { name: 'x', id: 7 }],
    ['a null title', { title: null }],
    ['an empty title', { title: '' }],
    ['a blank title', { title: '   ' }],
    ['a null title and an empty status', { title: null, status: '' }],
  ])('answers 400 Nothing to update to %s', async (_, body) => {
    const id = await create();
    const before = await read(id);
    expect(await send('PUT', `/v1/items/${id}`, body)).toEqual(answer(400, { message: 'Nothing to update' }));
    expect(await read(id)).toEqual(before);
  });

  test.each(['doing', 'Done', ' ', ' Doing', 1, true, ['Doing'], { a: 1 }])(
    'answers 400 Status must be Doing or Finished to status %j',
    async (status) => {
      const id = await create();
      const before = await read(id);
      expect(await send('PUT', `/v1/items/${id}`, { title: 'new', status })).toEqual(
        answer(400, { message: 'Status must be Doing or Finished' }),
      );
      expect(await read(id)).toEqual(before);
    },
  );

  test('answers 400 to a title of 151 characters and to one that is not a string', async () => {
    const id = await create();
    expect(await send('PUT', `/v1/items/${id}`, { title: 'x'.repeat(151) })).toEqual(
      answer(400, { message: 'Title must be at most 150 characters' }),
    );
    expect(await send('PUT', `/v1/items/${id}`, { title: 5 })).toEqual(
      answer(400, { message: 'Title must be a string' }),
    );
  });

  test('checks the body before it looks for the item', async () => {
    expect(await send('PUT', `/v1/items/${missingId}`, {})).toEqual(answer(400, { message: 'Nothing to update' }));
    expect((await send('PUT', `/v1/items/${missingId}`, { status: 'x' })).status).toBe(400);
  });
});

describe('DELETE /v1/items/:id', () => {
  test('removes the item for good', async () => {
    const id = await create();
    expect(await send('DELETE', `/v1/items/${id}`)).toEqual(answer(200, { message: 'Item deleted successfully' }));
    expect(await send('GET', `/v1/items/${id}`)).toEqual(answer(404, { message: 'Item not found' }));
    expect(await service.db.selectFrom('item').selectAll().execute()).toEqual([]);
  });

  test('works with content type JSON and no body', async () => {
    const response = await send('DELETE', `/v1/items/${await create()}`, undefined, {
      'content-type': 'application/json',
    });
    expect(response.status).toBe(200);
  });

  test('removes no other item', async () => {
    const [id, other] = [await create(), await create()];
    await send('DELETE', `/v1/items/${id}`);
    expect(await list()).toEqual([other]);
  });
});

describe.each(['GET', 'PUT', 'DELETE'])('%s by id', (method) => {
  const body = method === 'PUT' ? { title: 'new' } : undefined;

  test.each(['0', '00', `${missingId}`, '2147483648', '9223372036854775808', `1${'0'.repeat(30)}`, '9'.repeat(3_000)])(
    'answers 404 Item not found to %s',
    async (id) => {
      expect(await send(method, `/v1/items/${id}`, body)).toEqual(answer(404, { message: 'Item not found' }));
    },
  );

  test.each(['abc', '-1', '+1', '1e3', '1.5', '0x10', '12abc', '%20', '1%00', 'NaN', '%F0%9F%98%80', "1'--", '٣'])(
    'answers 400 Invalid id to %s',
    async (id) => {
      await create();
      expect(await send(method, `/v1/items/${id}`, body)).toEqual(answer(400, { message: 'Invalid id' }));
      expect(await list()).toHaveLength(1);
    },
  );
});

describe('All paths', () => {
  test('with a trailing slash answer like those without', async () => {
    const { body } = await send('POST', '/v1/items/', { title: 'a' });
    const { id } = body as { id: number };
    expect(await list('/')).toEqual([id]);
    expect((await send('GET', `/v1/items/${id}/`)).body).toMatchObject({ id });
    expect((await send('GET', '/v1/items/summary/')).body).toEqual({ finished: 0, total: 1 });
    expect((await send('PUT', `/v1/items/${id}/`, { title: 'b' })).status).toBe(200);
    expect((await send('DELETE', `/v1/items/${id}/`)).status).toBe(200);
  });

  test('answer HEAD where they answer GET, without a body', async () => {
    const id = await create();
    for (const path of ['/v1/items', `/v1/items/${id}`, '/v1/items/summary', '/livez', '/readyz']) {
      const [head, get] = [await send('HEAD', path), await send('GET', path)];
      expect([head.status, head.body]).toEqual([200, undefined]);
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    }
    expect((await send('HEAD', `/v1/items/${missingId}`)).status).toBe(404);
  });

  test.each([
    ['GET', '/'],
    ['GET', '/v1'],
    ['GET', '/v1/item'],
    ['GET', '/v1/items/1/2'],
    ['PATCH', '/v1/items/1'],
    ['DELETE', '/v1/items'],
    ['POST', '/v1/items/1'],
  ])('answer 404 Not found to %s %s, which the service does not have', async (method, path) => {
    expect(await send(method, path)).toEqual(answer(404, { message: 'Not found' }));
  });
});
