import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';
import { sql } from 'kysely';
import type { TodosDatabase } from '../src/database.ts';

const service = await startService<TodosDatabase>('dist/main.js');
afterAll(() => service.stop());
beforeEach(() => service.db.deleteFrom('todo').execute());

const send = (...args: Parameters<typeof service.request>) => service.request(...args);
const answer = (status: number, body: unknown) => expect.objectContaining({ status, body });
const missingId = 2 ** 40;

async function create(description = 'Buy milk') {
  const { body } = await send('POST', '/api/todos', { description });
  return (body as { id: number }).id;
}

const list = async () => (await send('GET', '/api/todos')).body;

describe('POST /api/todos', () => {
  test('answers 200 with the new id; the todo is not completed, whatever the body says, nor trimmed', async () => {
    const description = '  <img src=x onerror=alert(1)> \' " \\ $1 ';
    const response = await send('POST', '/api/todos', { description, isCompleted: 1, id: 77 });
    expect(response).toEqual(answer(200, { message: 'Todo created', id: expect.any(Number) }));
    const { id } = response.body as { id: number };
    expect(id).not.toBe(77);
    expect(await list()).toEqual([{ id, description, isCompleted: 0 }]);
  });

  test.each([
    ['a missing body', undefined, 'cannot be empty'],
    ['a missing description', {}, 'cannot be empty'],
    ['a null description', { description: null }, 'cannot be empty'],
    ['an empty description', { description: '' }, 'cannot be empty'],
    ['a blank description', { description: ' \n\t' }, 'cannot be empty'],
    ['a number', { description: 12 }, 'must be a string'],
    ['256 code points', { description: '😀'.repeat(256) }, 'must be at most 255 characters'],
  ])('answers 400 to %s and stores nothing', async (_, body, reason) => {
    expect(await send('POST', '/api/todos', body)).toEqual(answer(400, { message: `Description ${reason}` }));
    expect(await list()).toEqual([]);
  });

  test('stores 255 code points', async () => {
    const id = await create('😀'.repeat(255));
    expect(await list()).toEqual([{ id, description: '😀'.repeat(255), isCompleted: 0 }]);
  });
});

describe('GET /api/todos', () => {
  test('answers 200 with all todos as an array, by id, however many', async () => {
    expect(await send('GET', '/api/todos')).toEqual(answer(200, []));
    const ids = [await create('a'), await create('b'), await create('c')];
    await send('PUT', '/api/todos', { id: ids[0], description: 'z', isCompleted: 1 });
    expect(await list()).toEqual([
      { id: ids[0], description: 'z', isCompleted: 1 },
      { id: ids[1], description: 'b', isCompleted: 0 },
      { id: ids[2], description: 'c', isCompleted: 0 },
    ]);
    await sql`insert into todo (description) select 'todo ' || n from generate_series(1, 1231) n`.execute(service.db);
    expect(await list()).toHaveLength(1_234);
  });
});

describe('GET /api/todos/:id', () => {
  test('answers 200 with the todo, by its id as parseInt(segment, 10) reads it', async () => {
    const id = await create();
    const todo = answer(200, { id, description: 'Buy milk', isCompleted: 0 });
    for (const segment of ['#', '#abc', '#.9', '#%2F2', '%20#', '+#', '0#', '#e3', '#%00'])
      expect(await send('GET', `/api/todos/${segment.replace('#', `${id}`)}`)).toEqual(todo);
    // Other digits than decimal ones are not read: 0x1 is 0.
    const response = await send('GET', `/api/todos/0x${id.toString(16)}`);
    expect(response).toEqual(answer(404, { message: 'Todo not found' }));
  });

  test.each(['abc', '/', 'new', 'NaN', 'Infinity', '-', '%20', '%00', 'x1'])(
    'answers 400 Invalid id to %s',
    async (segment) => {
      expect(await send('GET', `/api/todos/${segment}`)).toEqual(answer(400, { message: 'Invalid id' }));
    },
  );

  test.each(['0', '-1', `${missingId}`, '9007199254740993', '9'.repeat(400)])('answers 404 to %s', async (segment) => {
    expect(await send('GET', `/api/todos/${segment}`)).toEqual(answer(404, { message: 'Todo not found' }));
  });
});

describe('PUT /api/todos', () => {
  test('replaces both of that todo and of no other, and answers 200 Update created with the id', async () => {
    const id = await create();
    const other = { id: await create('b'), description: 'b', isCompleted: 0 };
    for (const isCompleted of [1, 0, 0, 1]) {
      expect(await send('PUT', '/api/todos', { id, description: `now ${isCompleted}`, isCompleted })).toEqual(
        answer(200, { message: 'Update created', id }),
      );
      expect(await list()).toEqual([{ id, description: `now ${isCompleted}`, isCompleted }, other]);
    }
  });

  test.each([
    ['isCompleted 2', { isCompleted: 2 }, 'IsCompleted must be 0 or 1'],
    ['isCompleted "1"', { isCompleted: '1' }, 'IsCompleted must be 0 or 1'],
    ['isCompleted 0.5', { isCompleted: 0.5 }, 'IsCompleted must be 0 or 1'],
    ['isCompleted true', { isCompleted: true }, 'IsCompleted must be 0 or 1'],
    ['isCompleted null', { isCompleted: null }, 'IsCompleted cannot be empty'],
    ['no isCompleted', { isCompleted: undefined }, 'IsCompleted cannot be empty'],
    ['no description', { description: undefined }, 'Description cannot be empty'],
    ['a blank description', { description: ' ' }, 'Description cannot be empty'],
    ['256 characters', { description: 'x'.repeat(256) }, 'Description must be at most 255 characters'],
    ['no id', { id: undefined }, 'Id cannot be empty'],
    ['an id with a fraction', { id: 1.5 }, 'Id must be an integer'],
    ['an id as text', { id: '1' }, 'Id must be an integer'],
    ['an id that no todo has', { id: missingId, isCompleted: 2 }, 'IsCompleted must be 0 or 1'],
  ])('answers 400 to %s and changes nothing', async (_, change, message) => {
    const id = await create();
    const before = await list();
    const response = await send('PUT', '/api/todos', { id, description: 'x', isCompleted: 1, ...change });
    expect(response).toEqual(answer(400, { message }));
    expect(await list()).toEqual(before);
  });

  test.each([0, -1, missingId, 2 ** 53, 1e30, -1e300])('answers 404 Todo not found to the id %d', async (id) => {
    // The last id that JavaScript holds exactly.
    const last = { id: Number.MAX_SAFE_INTEGER, description: 'last', isCompleted: 0 };
    await sql`insert into todo overriding system value values (${last.id}, 'last', 0)`.execute(service.db);
    const response = await send('PUT', '/api/todos', { id, description: 'x', isCompleted: 1 });
    expect(response).toEqual(answer(404, { message: 'Todo not found' }));
    expect(await list()).toEqual([last]);
  });
});

test.each([
  ...['GET /', 'GET /todos', 'GET /api//todos', 'GET /API/todos', 'GET /api/todos/1/2', 'POST /api/todos/1'],
  ...['PUT /api/todos/1', 'DELETE /api/todos', 'DELETE /api/todos/1', 'PATCH /api/todos/1'],
])('%s is 404 Not found outside production mode', async (line) => {
  const [method, path] = line.split(' ') as [string, string];
  expect(await send(method, path)).toEqual(answer(404, { message: 'Not found' }));
});

test('A failure of the storage is 500 Internal Server Error with an error object', async () => {
  await sql`alter table todo rename to gone`.execute(service.db);
  const responses = [
    await send('GET', '/api/todos'),
    await send('GET', '/api/todos/1'),
    await send('POST', '/api/todos', { description: 'x' }),
    await send('PUT', '/api/todos', { id: 1, description: 'x', isCompleted: 1 }),
  ];
  await sql`alter table gone rename to todo`.execute(service.db);
  for (const response of responses) {
    expect(response).toEqual(answer(500, { message: 'Internal Server Error', error: { code: '42P01' } }));
  }
});
