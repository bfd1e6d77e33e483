import { beforeEach, describe, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';
import { sql } from 'kysely';
import type { TodosDatabase } from '../src/database.ts';

const service = await startService<TodosDatabase>('dist/main.js');
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

  test.each(
    Object.entries({
      'cannot be empty': [undefined, {}, { description: null }, { description: '' }, { description: ' \n\t' }],
      'must be a string': [{ description: 12 }],
      'must be at most 255 characters': [{ description: '😀'.repeat(256) }],
    }),
  )('answers 400, Description %s, and stores nothing', async (reason, bodies) => {
    const invalid = answer(400, { message: `Description ${reason}` });
    for (const body of bodies) expect([body, await send('POST', '/api/todos', body)]).toEqual([body, invalid]);
    expect(await list()).toEqual([]);
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

  const notIds = ['abc', '/', 'new', 'NaN', 'Infinity', '-', '%20', '%00', 'x1'];
  test.each(notIds)('answers 400 Invalid id to %s', async (segment) => {
    expect(await send('GET', `/api/todos/${segment}`)).toEqual(answer(400, { message: 'Invalid id' }));
  });

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

  const noBits = [2, '1', 0.5, true].map((isCompleted) => ({ isCompleted }));
  test.each(
    Object.entries({
      'IsCompleted must be 0 or 1': [...noBits, { id: missingId, isCompleted: 2 }],
      'IsCompleted cannot be empty': [{ isCompleted: null }, { isCompleted: undefined }],
      'Description cannot be empty': [{ description: undefined }, { description: ' ' }],
      'Description must be at most 255 characters': [{ description: 'x'.repeat(256) }],
      'Id cannot be empty': [{ id: undefined }],
      'Id must be an integer': [{ id: 1.5 }, { id: '1' }],
    }),
  )('answers 400 %s and changes nothing', async (message, changes) => {
    const todo = { id: await create(), description: 'x', isCompleted: 1 };
    const before = await list();
    for (const change of changes) {
      const response = await send('PUT', '/api/todos', { ...todo, ...change });
      expect([change, response]).toEqual([change, answer(400, { message })]);
    }
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

test.each(['GET /', 'GET /todos', 'DELETE /api/todos/1'])('%s is 404 outside production mode', async (line) => {
  const [method, path] = line.split(' ') as [string, string];
  expect(await send(method, path)).toEqual(answer(404, { message: 'Not found' }));
});
