import { testSharedParts } from '@rest-services/testing';

await testSharedParts({
  name: 'todos',
  table: 'todo',
  list: '/api/todos',
  one: (id) => `/api/todos/${id}`,
  writes: (number) => [
    { method: 'POST', path: '/api/todos', body: { description: `Todo ${number}` } },
    { method: 'PUT', path: '/api/todos', body: { id: number, description: 'Done', isCompleted: 1 } },
  ],
  failure: { message: 'Internal Server Error', error: { code: '42P01' } },
});
