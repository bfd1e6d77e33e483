import { afterAll, expect, test } from '@jest/globals';
import { todosClient } from '@rest-services/client';
import { startService } from '@rest-services/testing';

const service = await startService('dist/main.js');
afterAll(() => service.stop());

test('The typed client creates, lists, reads and updates a todo', async () => {
  const client = todosClient({ baseUrl: service.url });
  const created = await client.POST('/api/todos', { body: { description: 'Buy milk' } });
  const id = created.data!.id;
  await client.PUT('/api/todos', { body: { id, description: 'Buy bread', isCompleted: 1 } });
  expect((await client.GET('/api/todos')).data).toEqual([{ id, description: 'Buy bread', isCompleted: 1 }]);
  const todo = await client.GET('/api/todos/{id}', { params: { path: { id } } });
  expect(todo.data?.isCompleted).toBe(1);
  const refused = await client.POST('/api/todos', { body: { description: ' ' } });
  expect(refused.error?.message).toBe('Description cannot be empty');
});
