import { beforeEach, describe, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';
import type { LanguagesDatabase } from '../src/database.ts';

const service = await startService<LanguagesDatabase>('dist/main.js');
beforeEach(() => service.db.deleteFrom('programming_language').execute());

const send = (...args: Parameters<typeof service.request>) => service.request(...args);

const path = '/programming-languages';
const python = { name: 'Python', released_year: 1991, githut_rank: 1, pypl_rank: 2, tiobe_rank: 3 };
const rust = { name: 'Rust', released_year: 2010, githut_rank: 14, pypl_rank: 15, tiobe_rank: 16 };
const formType = { 'content-type': 'application/x-www-form-urlencoded' };

type Fields = Record<string, string | number>;
/** The two ways to send fields, which mean the same. */
const encodings: [name: string, encoded: (fields: Fields) => [body: string, headers: Record<string, string>]][] = [
  ['JSON', (fields) => [JSON.stringify(fields), { 'content-type': 'application/json' }]],
  ['URL-encoded', (fields) => [new URLSearchParams(fields as Record<string, string>).toString(), formType]],
];

/** The records of a page. */
async function list(query = '') {
  const { body } = await send('GET', path + query);
  return (body as { data: { id: number }[] }).data;
}

/** All records by id. */
const stored = () => service.db.selectFrom('programming_language').selectAll().orderBy('id').execute();

/** The record of that name after it was created. */
async function create(language: Fields = python) {
  await send('POST', path, language);
  return (await stored()).find(({ name }) => name === language.name)!;
}

const ids = async (query?: string) => (await list(query)).map(({ id }) => id);
const answer = (status: number, body: unknown) => expect.objectContaining({ status, body });
const created = answer(200, { message: 'Programming language created successfully' });
const updated = answer(200, { message: 'Programming language updated successfully' });
const deleted = answer(200, { message: 'Programming language deleted successfully' });
const taken = answer(409, { message: 'Name is taken by another programming language' });
const missingId = 2 ** 40;

describe('GET /programming-languages', () => {
  test('answers all eight fields of each record', async () => {
    const before = Date.now() - 1_000;
    const record = await create();
    expect(await list()).toEqual([
      {
        id: expect.any(Number),
        ...python,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: record.created_at,
      },
    ]);
    expect(Date.parse(record.created_at)).toBeGreaterThan(before);
  });

  describe('of 16 records', () => {
    let all: number[];
    beforeEach(async () => {
      const values = Array.from({ length: 16 }, (_, n) => ({ name: `language ${n}`, released_year: 1950 + n }));
      const rows = await service.db.insertInto('programming_language').values(values).returning('id').execute();
      all = rows.map(({ id }) => id).sort((a, b) => a - b);
    });

    test('answers 10 records a page by id, whatever limit says, and the page in meta', async () => {
      for (const query of ['', '?limit=3']) expect(await ids(query)).toEqual(all.slice(0, 10));
      expect(await ids('?page=2')).toEqual(all.slice(10));
      expect((await send('GET', `${path}?page=2&page=1`)).body).toMatchObject({ meta: { page: 2 } });
    });

    test('answers no data past the last page, however large', async () => {
      expect(await send('GET', `${path}?page=3`)).toEqual(answer(200, { data: [], meta: { page: 3 } }));
      for (const page of ['2147483648', '9'.repeat(400)]) expect(await list(`?page=${page}`)).toEqual([]);
    });

    test.each(['abc', '0', '-1', '2.5', '', '&page[]=2'])('answers page 1 to page=%s', async (page) => {
      expect((await send('GET', `${path}?page=${page}`)).body).toMatchObject({ meta: { page: 1 } });
    });

    test('leads to the other pages in Link and counts all records in X-Total-Count, HEAD too', async () => {
      for (const method of ['GET', 'HEAD']) {
        const { headers } = await send(method, `${path}?page=2&limit=3`);
        const links = '<?page=1>; rel="first", <?page=1>; rel="prev", <?page=2>; rel="last"';
        expect([headers.get('link'), headers.get('x-total-count')]).toEqual([links, '16']);
      }
    });
  });
});

const year = 'Released year must be an integer from -2147483648 to 2147483647';

describe.each(encodings)('POST and PUT, %s', (_, encoded) => {
  const post = (body: Fields) => send('POST', path, ...encoded(body));
  const put = (id: number | string, body: Fields) => send('PUT', `${path}/${id}`, ...encoded(body));

  test('insert and replace the five fields of a record', async () => {
    expect(await post(python)).toEqual(created);
    const { id, created_at } = (await stored())[0]!;
    expect(await stored()).toEqual([expect.objectContaining(python)]);
    expect(await put(id, rust)).toEqual(updated);
    expect(await stored()).toEqual([expect.objectContaining({ id, ...rust, created_at })]);
  });

  test('take a number as digits or as text, up to what an integer column holds', async () => {
    const numbers = { released_year: -2_147_483_648, githut_rank: 0, pypl_rank: -1, tiobe_rank: 2_147_483_647 };
    const texts = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, String(value)]));
    expect([await post({ name: 'a', ...numbers }), await post({ name: 'b', ...texts })]).toEqual([created, created]);
    const records = [expect.objectContaining(numbers), expect.objectContaining(numbers)];
    expect(await stored()).toEqual(records);
    expect(await put((await stored())[0]!.id, { name: 'a', ...texts })).toEqual(updated);
    expect(await stored()).toEqual(records);
  });

  test('store null for a rank that is missing or empty', async () => {
    const expected = { githut_rank: null, pypl_rank: null, tiobe_rank: 9 };
    expect(await post({ name: 'a', released_year: 1991, pypl_rank: '', tiobe_rank: 9 })).toEqual(created);
    const { id } = await create();
    expect(await put(id, { name: 'b', released_year: 1991, pypl_rank: '', tiobe_rank: 9 })).toEqual(updated);
    expect(await stored()).toEqual([expect.objectContaining(expected), expect.objectContaining(expected)]);
  });

  test.each<[Fields, string]>([
    [{ released_year: 1991 }, 'Name cannot be empty'],
    [{ name: '', released_year: 1991 }, 'Name cannot be empty'],
    [{ name: ' \t\n\u00a0'.repeat(256), released_year: 1991 }, 'Name cannot be empty'],
    [{ name: '😀'.repeat(256), released_year: 1991 }, 'Name must be at most 255 characters'],
    [{ name: 'a' }, 'Released year cannot be empty'],
    [{ name: 'a', released_year: '' }, 'Released year cannot be empty'],
    [{ name: 'a', released_year: ' 1995' }, year],
    [{ name: 'a', released_year: 1995.5 }, year],
    [{ name: 'a', released_year: 2_147_483_648 }, year],
    [{ name: 'a', released_year: 1991, githut_rank: 'abc' }, year.replace('Released year', 'Githut rank')],
  ])('answer 400 to %j and change nothing: %s', async (body, message) => {
    const record = await create();
    expect(await post(body)).toEqual(answer(400, { message }));
    expect(await put(record.id, body)).toEqual(answer(400, { message }));
    expect(await stored()).toEqual([record]);
  });

  test('answer 409 to a name that another record has, and change nothing', async () => {
    const { id } = await create();
    await create(rust);
    const before = await stored();
    expect([await post(rust), await put(id, rust)]).toEqual([taken, taken]);
    expect(await stored()).toEqual(before);
  });
});

describe('POST /programming-languages', () => {
  test('ignores unknown properties, and an id and timestamps', async () => {
    const record = await create({ ...python, id: missingId, created_at: '1970-01-01', extra: 'x' });
    expect(record.id).not.toBe(missingId);
    expect(record.created_at).not.toMatch(/^1970/);
  });

  test.each([
    [{ name: null, released_year: 1991 }, 'Name cannot be empty'],
    [undefined, 'Name cannot be empty'],
    [{ name: 12, released_year: 1991 }, 'Name must be a string'],
    [{ name: 'a', released_year: null }, 'Released year cannot be empty'],
  ])('answers 400 to %j in JSON: %s', async (body, message) => {
    expect(await send('POST', path, body)).toEqual(answer(400, { message }));
  });

  test('takes names that differ in case for two', async () => {
    for (const name of ['JavaScript', 'javascript'])
      expect(await send('POST', path, { name, released_year: 1e3 })).toEqual(created);
  });

  test('takes JSON and a form that mean the same for one Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'key' };
    expect(await send('POST', path, { name: 'C', released_year: 1972 }, key)).toEqual(created);
    expect(await send('POST', path, 'released_year=1972&name=C', { ...formType, ...key })).toEqual(created);
    expect(await stored()).toHaveLength(1);
  });

  test('leaves no Idempotency-Key when the name is taken', async () => {
    const { id } = await create();
    const repeated = () => send('POST', path, python, { 'idempotency-key': 'another' });
    expect([await repeated(), await repeated()]).toEqual([taken, taken]);
    await send('DELETE', `${path}/${id}`);
    expect(await repeated()).toEqual(created);
  });
});

describe('PUT /programming-languages/:id', () => {
  const put = (id: number | string, body: unknown) => send('PUT', `${path}/${id}`, body);

  test('accepts the whole record that was read, sets updated_at, and changes no other', async () => {
    const longAgo = '1970-01-01T00:00:00.000Z';
    await create();
    await service.db.updateTable('programming_language').set({ created_at: longAgo, updated_at: longAgo }).execute();
    const [record, other] = [(await stored())[0]!, await create(rust)];
    expect(await put(record.id, { ...record, githut_rank: 40 })).toEqual(updated);
    const [after, ...others] = await stored();
    expect([after, others]).toEqual([{ ...record, githut_rank: 40, updated_at: expect.any(String) }, [other]]);
    expect(Date.now() - Date.parse(after!.updated_at)).toBeLessThan(60_000);
  });

  test('checks the body before it looks for the record, whose name it need not free', async () => {
    for (const id of [missingId, 'abc'])
      expect(await put(id, {})).toEqual(answer(400, { message: 'Name cannot be empty' }));
    await create();
    expect(await put(missingId, python)).toEqual(answer(200, { message: 'Error in updating programming language' }));
  });
});

test('DELETE /programming-languages/:id removes the record and no other, and frees the name', async () => {
  const [{ id }, other] = [await create(), await create(rust)];
  expect(await send('DELETE', `${path}/${id}`)).toEqual(deleted);
  expect(await stored()).toEqual([other]);
  expect((await create()).id).toBeGreaterThan(other.id);
});

describe.each([
  ['PUT', rust, 'Error in updating programming language'],
  ['DELETE', undefined, 'Error in deleting programming language'],
])('%s of a record that does not exist', (method, body, message) => {
  const absentIds = ['0', `${missingId}`, `1${'0'.repeat(30)}`, 'abc', '-1', '1.5', '12abc', '%20', "1'--", '٣'];
  test.each(absentIds)('answers 200 and the failure message to id %s', async (id) => {
    const record = await create();
    expect(await send(method, `${path}/${id}`, body)).toEqual(answer(200, { message }));
    expect(await stored()).toEqual([record]);
  });
});

test('GET /programming-languages/:id is 404 Not found: the service does not have it', async () => {
  const { id } = await create();
  expect(await send('GET', `${path}/${id}`)).toEqual(answer(404, { message: 'Not found' }));
});
