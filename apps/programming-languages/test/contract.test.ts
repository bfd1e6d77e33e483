import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';
import { sql } from 'kysely';
import type { LanguagesDatabase } from '../src/database.ts';
import { encodings, formType } from './encodings.ts';

const service = await startService<LanguagesDatabase>('dist/main.js');
afterAll(() => service.stop());
beforeEach(() => service.db.deleteFrom('programming_language').execute());

const send = (...args: Parameters<typeof service.request>) => service.request(...args);

interface Language {
  id: number;
  name: string;
  released_year: number;
  githut_rank: number | null;
  pypl_rank: number | null;
  tiobe_rank: number | null;
  created_at: string;
  updated_at: string;
}

const path = '/programming-languages';
const python = { name: 'Python', released_year: 1991, githut_rank: 1, pypl_rank: 2, tiobe_rank: 3 };
const rust = { name: 'Rust', released_year: 2010, githut_rank: 14, pypl_rank: 15, tiobe_rank: 16 };

async function list(query = '') {
  const { body } = await send('GET', path + query);
  return (body as { data: Language[] }).data;
}

/** The record of that name after it was created. */
async function create(language: Record<string, unknown> = python) {
  await send('POST', path, language);
  const found = (await list()).find(({ name }) => name === language.name);
  return found!;
}

async function fill(count: number) {
  const values = Array.from({ length: count }, (_, n) => ({ name: `language ${n}`, released_year: 1950 + n }));
  const rows = await service.db.insertInto('programming_language').values(values).returning('id').execute();
  return rows.map(({ id }) => id).sort((a, b) => a - b);
}

const ids = async (query?: string) => (await list(query)).map(({ id }) => id);
const answer = (status: number, body: unknown) => expect.objectContaining({ status, body });
const missingId = 2 ** 40;

describe('GET /', () => {
  test('answers 200 and the message ok', async () => {
    expect(await send('GET', '/')).toEqual(answer(200, { message: 'ok' }));
  });
});

describe('GET /programming-languages', () => {
  test('answers 200 with data and meta, data being empty when there are no records', async () => {
    expect(await send('GET', path)).toEqual(answer(200, { data: [], meta: { page: 1 } }));
  });

  test('answers all eight fields of each record', async () => {
    const before = Date.now() - 1_000;
    await send('POST', path, python);
    const [record] = await list();
    expect(record).toEqual({
      id: expect.any(Number),
      ...python,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: record!.created_at,
    });
    expect(Date.parse(record!.created_at)).toBeGreaterThan(before);
  });

  describe('of 16 records', () => {
    let all: number[];
    beforeEach(async () => {
      all = await fill(16);
    });

    test('answers records 1 to 10 by id when page is omitted', async () => {
      expect(await ids()).toEqual(all.slice(0, 10));
      expect(await ids('?page=1')).toEqual(all.slice(0, 10));
    });

    test('answers records 11 to 16 with page=2', async () => {
      expect(await ids('?page=2')).toEqual(all.slice(10));
    });

    test('says in meta which page it is', async () => {
      expect((await send('GET', path)).body).toMatchObject({ meta: { page: 1 } });
      expect((await send('GET', `${path}?page=2`)).body).toMatchObject({ meta: { page: 2 } });
    });

    test('answers no data past the last page', async () => {
      expect(await send('GET', `${path}?page=3`)).toEqual(answer(200, { data: [], meta: { page: 3 } }));
    });

    test.each(['2147483648', '9007199254740993', '99999999999999999999', '9'.repeat(400)])(
      'answers no data to a page as large as %s',
      async (page) => {
        expect(await send('GET', `${path}?page=${page}`)).toEqual(
          answer(200, { data: [], meta: { page: expect.any(Number) } }),
        );
      },
    );

    test.each(['abc', '0', '-1', '2.5', '1e3', '', '%20', '+2', '0x2', '2%00', '2%ff', 'null', '٢'])(
      'answers page 1 to page=%s, which is no positive integer',
      async (page) => {
        const { status, body } = await send('GET', `${path}?page=${page}`);
        const { data, meta } = body as { data: Language[]; meta: unknown };
        expect([status, meta]).toEqual([200, { page: 1 }]);
        expect(data.map(({ id }) => id)).toEqual(all.slice(0, 10));
      },
    );

    test('uses the first value of a repeated page', async () => {
      expect(await ids('?page=2&page=1')).toEqual(all.slice(10));
    });

    test('has 10 records on a page whatever limit says', async () => {
      expect(await ids('?limit=3')).toEqual(all.slice(0, 10));
    });

    test('leads to the other pages in Link and counts all records in X-Total-Count, HEAD too', async () => {
      const link = (relation: string, page: number) => `<?page=${page}>; rel="${relation}"`;
      const pages = {
        '': [link('first', 1), link('next', 2), link('last', 2)],
        '?page=2': [link('first', 1), link('prev', 1), link('last', 2)],
        '?page=9&limit=3': [link('first', 1), link('prev', 2), link('last', 2)],
      };
      for (const [query, links] of Object.entries(pages)) {
        for (const method of ['GET', 'HEAD']) {
          const { headers } = await send(method, path + query);
          expect([headers.get('link'), headers.get('x-total-count')]).toEqual([links.join(', '), '16']);
        }
      }
    });

    test('answers pages exactly after deletions', async () => {
      for (const id of [all[0], all[3], all[15]]) await send('DELETE', `${path}/${id}`);
      const left = all.filter((_, index) => ![0, 3, 15].includes(index));
      expect(await ids()).toEqual(left.slice(0, 10));
      expect(await ids('?page=2')).toEqual(left.slice(10));
      expect((await send('GET', path)).headers.get('x-total-count')).toBe('13');
    });

    test('keeps the order by id after an update', async () => {
      await send('PUT', `${path}/${all[0]}`, python);
      expect(await ids()).toEqual(all.slice(0, 10));
    });
  });
});

describe.each(encodings)('POST /programming-languages, %s', (_, encoded) => {
  const post = (body: Record<string, string | number>) => send('POST', path, ...encoded(body));

  test('inserts a record from the five fields and answers 200 Programming language created successfully', async () => {
    expect(await post(python)).toEqual(answer(200, { message: 'Programming language created successfully' }));
    expect(await list()).toEqual([expect.objectContaining(python)]);
  });

  test('takes a number as digits or as text', async () => {
    const texts = { released_year: '1991', githut_rank: '1', pypl_rank: '2', tiobe_rank: '3' };
    expect((await post({ name: 'Python', ...texts })).status).toBe(200);
    expect(await list()).toEqual([expect.objectContaining(python)]);
  });

  test('stores null for ranks that are missing or empty', async () => {
    expect((await post({ name: 'Missing', released_year: 1991 })).status).toBe(200);
    const empty = { githut_rank: '', pypl_rank: '', tiobe_rank: '' };
    expect((await post({ name: 'Empty', released_year: 1991, ...empty })).status).toBe(200);
    const none = { githut_rank: null, pypl_rank: null, tiobe_rank: null };
    expect(await list()).toEqual([
      expect.objectContaining({ name: 'Missing', ...none }),
      expect.objectContaining({ name: 'Empty', ...none }),
    ]);
  });

  test('stores each rank in its own field', async () => {
    for (const field of ['githut_rank', 'pypl_rank', 'tiobe_rank']) {
      await post({ name: field, released_year: 1991, [field]: 7 });
    }
    const none = { githut_rank: null, pypl_rank: null, tiobe_rank: null };
    expect(await list()).toEqual(
      ['githut_rank', 'pypl_rank', 'tiobe_rank'].map(
        (field) => expect.objectContaining({ name: field, ...none, [field]: 7 }) as unknown,
      ),
    );
  });

  test('checks no number beyond what an integer column holds', async () => {
    const numbers = { released_year: -2_147_483_648, githut_rank: 0, pypl_rank: -1, tiobe_rank: 2_147_483_647 };
    expect((await post({ name: 'odd', ...numbers })).status).toBe(200);
    expect(await list()).toEqual([expect.objectContaining(numbers)]);
  });

  test('gives increasing ids, and none a second time', async () => {
    await post({ name: 'a', released_year: 1 });
    const first = (await list())[0]!.id;
    await send('DELETE', `${path}/${first}`);
    await post({ name: 'b', released_year: 1 });
    await post({ name: 'c', released_year: 1 });
    const records = await list();
    expect(records.map(({ name }) => name)).toEqual(['b', 'c']);
    expect(records[0]!.id).toBeGreaterThan(first);
    expect(records[1]!.id).toBeGreaterThan(records[0]!.id);
  });

  test('ignores unknown properties, and an id and timestamps', async () => {
    const body = { ...python, id: missingId, created_at: '1970-01-01', updated_at: '1970-01-01', extra: 'x' };
    expect((await post(body)).status).toBe(200);
    const [record] = await list();
    expect(record!.id).not.toBe(missingId);
    expect(record!.created_at).not.toMatch(/^1970/);
  });

  test('stores a name as it was sent, not trimmed', async () => {
    const name = '  C++ & C#=100%\t"\' \\ $1 \u{1F469}\u200D\u{1F4BB} é e\u0301 ';
    await post({ name, released_year: 1991 });
    expect((await list())[0]!.name).toBe(name);
  });

  test.each([
    ['255 characters', 'x'.repeat(255)],
    ['255 emoji', '😀'.repeat(255)],
  ])('stores a name of %s', async (_length, name) => {
    expect((await post({ name, released_year: 1991 })).status).toBe(200);
    expect((await list())[0]!.name).toBe(name);
  });

  test('answers 409 to a name that another record has', async () => {
    await post(python);
    expect(await post({ ...rust, name: 'Python' })).toEqual(
      answer(409, { message: 'Name is taken by another programming language' }),
    );
    expect(await list()).toEqual([expect.objectContaining(python)]);
  });
});

describe('POST /programming-languages', () => {
  test('stores null for ranks that are null in JSON', async () => {
    const none = { githut_rank: null, pypl_rank: null, tiobe_rank: null };
    expect((await send('POST', path, { name: 'a', released_year: 1991, ...none })).status).toBe(200);
    expect(await list()).toEqual([expect.objectContaining(none)]);
  });

  test('takes the first value of a form field that is sent twice', async () => {
    const body = 'name=Python&name=Rust&released_year=1991&released_year=abc&githut_rank=1&githut_rank=2';
    expect((await send('POST', path, body, formType)).status).toBe(200);
    expect(await list()).toEqual([
      expect.objectContaining({ name: 'Python', released_year: 1991, githut_rank: 1, tiobe_rank: null }),
    ]);
  });

  test('reads + and %XX in a form as a browser writes them', async () => {
    const body = 'name=Visual+Basic+%2B+C%23&released_year=1991';
    await send('POST', path, body, { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' });
    expect((await list())[0]!.name).toBe('Visual Basic + C#');
  });

  test('creates one record when the same name is sent ten times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => send('POST', path, python)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(409)]);
    expect(await list()).toHaveLength(1);
  });
});

describe('POST /programming-languages with Idempotency-Key', () => {
  const key = { 'idempotency-key': 'key' };
  beforeEach(() => sql`delete from idempotency_key`.execute(service.db));

  test('takes JSON and a form that mean the same for the same body', async () => {
    const created = answer(200, { message: 'Programming language created successfully' });
    expect(await send('POST', path, { name: 'C', released_year: 1972 }, key)).toEqual(created);
    expect(await send('POST', path, 'released_year=1972&name=C', { ...formType, ...key })).toEqual(created);
    expect(await list()).toHaveLength(1);
  });

  test('leaves no key when the name is taken', async () => {
    const { id } = await create(rust);
    const taken = answer(409, { message: 'Name is taken by another programming language' });
    expect(await send('POST', path, { ...python, name: 'Rust' }, key)).toEqual(taken);
    expect(await send('POST', path, { ...python, name: 'Rust' }, key)).toEqual(taken);
    await send('DELETE', `${path}/${id}`);
    expect((await send('POST', path, { ...python, name: 'Rust' }, key)).status).toBe(200);
    expect(await list()).toEqual([expect.objectContaining({ ...python, name: 'Rust' })]);
  });
});

describe.each(encodings)('PUT /programming-languages/:id, %s', (_, encoded) => {
  const put = (id: number | string, body: Record<string, string | number>) =>
    send('PUT', `${path}/${id}`, ...encoded(body));

  test('replaces the five fields and answers 200 Programming language updated successfully', async () => {
    const { id, created_at } = await create();
    expect(await put(id, rust)).toEqual(answer(200, { message: 'Programming language updated successfully' }));
    expect(await list()).toEqual([expect.objectContaining({ id, ...rust, created_at })]);
  });

  test('makes ranks null that are omitted or empty', async () => {
    const { id } = await create();
    await put(id, { name: 'Python', released_year: 1991, pypl_rank: '', tiobe_rank: 9 });
    expect(await list()).toEqual([
      expect.objectContaining({ name: 'Python', githut_rank: null, pypl_rank: null, tiobe_rank: 9 }),
    ]);
  });

  test('takes a number as digits or as text', async () => {
    const { id } = await create();
    const texts = { released_year: '2010', githut_rank: '14', pypl_rank: '15', tiobe_rank: '16' };
    expect((await put(id, { name: 'Rust', ...texts })).status).toBe(200);
    expect(await list()).toEqual([expect.objectContaining(rust)]);
  });

  test('refreshes updated_at and keeps created_at', async () => {
    const { id } = await create();
    const longAgo = '1970-01-01T00:00:00.000Z';
    await service.db.updateTable('programming_language').set({ created_at: longAgo, updated_at: longAgo }).execute();
    await put(id, python);
    const [record] = await list();
    expect(record!.created_at).toBe(longAgo);
    expect(Date.now() - Date.parse(record!.updated_at)).toBeLessThan(60_000);
  });

  test('lets a record keep its name', async () => {
    const { id } = await create();
    expect((await put(id, { ...rust, name: 'Python' })).status).toBe(200);
  });

  test('answers 409 to a name that another record has, and changes nothing', async () => {
    const { id } = await create();
    await create(rust);
    const before = await list();
    expect(await put(id, rust)).toEqual(answer(409, { message: 'Name is taken by another programming language' }));
    expect(await list()).toEqual(before);
  });

  test('keeps nobody else waiting while the name is about to be taken', async () => {
    const [first, second] = [await create(), await create(rust)];
    let waiting: Promise<unknown> | undefined;
    await service.db.transaction().execute(async (transaction) => {
      await transaction.insertInto('programming_language').values({ name: 'Ada', released_year: 1980 }).execute();
      waiting = put(first.id, { ...python, name: 'Ada' });
      expect((await put(second.id, rust)).status).toBe(200);
    });
    expect(await waiting).toMatchObject({ status: 409 });
  });

  test('changes no other record', async () => {
    const { id } = await create();
    const other = await create(rust);
    await put(id, { name: 'new', released_year: 1 });
    expect((await list())[1]).toEqual(other);
  });
});

describe('PUT /programming-languages/:id', () => {
  test('accepts the whole record that was read', async () => {
    const record = await create({ name: 'Zig', released_year: 2016 });
    expect((await send('PUT', `${path}/${record.id}`, { ...record, githut_rank: 40 })).status).toBe(200);
    expect(await list()).toEqual([{ ...record, githut_rank: 40, updated_at: expect.any(String) }]);
  });
});

describe('DELETE /programming-languages/:id', () => {
  test('removes the record and answers 200 Programming language deleted successfully', async () => {
    const { id } = await create();
    expect(await send('DELETE', `${path}/${id}`)).toEqual(
      answer(200, { message: 'Programming language deleted successfully' }),
    );
    expect(await list()).toEqual([]);
  });

  test('answers 200 Error in deleting programming language the second time', async () => {
    const { id } = await create();
    await send('DELETE', `${path}/${id}`);
    expect(await send('DELETE', `${path}/${id}`)).toEqual(
      answer(200, { message: 'Error in deleting programming language' }),
    );
  });

  test.each(['application/json', 'application/x-www-form-urlencoded'])(
    'works with content type %s and no body',
    async (type) => {
      const { id } = await create();
      expect((await send('DELETE', `${path}/${id}`, undefined, { 'content-type': type })).body).toEqual({
        message: 'Programming language deleted successfully',
      });
    },
  );

  test('removes no other record, and frees the name', async () => {
    const { id } = await create();
    const other = await create(rust);
    await send('DELETE', `${path}/${id}`);
    expect(await list()).toEqual([other]);
    expect((await send('POST', path, python)).status).toBe(200);
  });
});

describe.each([
  ['PUT', rust, 'Error in updating programming language'],
  ['DELETE', undefined, 'Error in deleting programming language'],
])('%s of a record that does not exist', (method, body, message) => {
  test.each([
    '0',
    '00',
    `${missingId}`,
    '2147483648',
    '9223372036854775808',
    `1${'0'.repeat(30)}`,
    '9'.repeat(3_000),
    'abc',
    '-1',
    '+1',
    '1e3',
    '1.5',
    '0x10',
    '12abc',
    '%20',
    '1%00',
    'NaN',
    '%F0%9F%98%80',
    "1'--",
    '٣',
  ])('answers 200 and the failure message to id %s', async (id) => {
    const record = await create();
    expect(await send(method, `${path}/${id}`, body)).toEqual(answer(200, { message }));
    expect(await list()).toEqual([record]);
  });
});

describe('All paths', () => {
  test('with a trailing slash answer like those without', async () => {
    expect((await send('POST', `${path}/`, python)).status).toBe(200);
    const [id] = await ids('/');
    expect((await send('PUT', `${path}/${id}/`, rust)).body).toEqual({
      message: 'Programming language updated successfully',
    });
    expect((await send('DELETE', `${path}/${id}/`)).body).toEqual({
      message: 'Programming language deleted successfully',
    });
  });

  test('answer HEAD where they answer GET, without a body', async () => {
    await create();
    for (const get of ['/', path, '/livez', '/readyz']) {
      const head = await send('HEAD', get);
      expect([head.status, head.body]).toEqual([200, undefined]);
      expect(head.headers.get('content-length')).toBe((await send('GET', get)).headers.get('content-length'));
    }
  });

  test('answer 404 Not found to GET by id, which the service does not have', async () => {
    const { id } = await create();
    expect(await send('GET', `${path}/${id}`)).toEqual(answer(404, { message: 'Not found' }));
    expect(await send('GET', `${path}/abc`)).toEqual(answer(404, { message: 'Not found' }));
  });

  test.each([
    ['GET', '/programming-language'],
    ['GET', '/programming-languages/1/2'],
    ['POST', '/'],
    ['POST', '/programming-languages/1'],
    ['PUT', '/programming-languages'],
    ['PATCH', '/programming-languages/1'],
    ['DELETE', '/programming-languages'],
  ])('answer 404 Not found to %s %s, which the service does not have', async (method, unknown) => {
    expect(await send(method, unknown)).toEqual(answer(404, { message: 'Not found' }));
  });

  test('answer 500 and nothing but a message when the database fails', async () => {
    await sql`alter table programming_language rename to gone`.execute(service.db);
    const answers = [
      await send('GET', path),
      await send('POST', path, python),
      await send('PUT', `${path}/1`, python),
      await send('DELETE', `${path}/1`),
    ];
    await sql`alter table gone rename to programming_language`.execute(service.db);
    for (const failed of answers) expect(failed).toEqual(answer(500, { message: 'Internal Server Error' }));
  });
});
