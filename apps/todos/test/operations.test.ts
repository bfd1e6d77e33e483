import { join } from 'node:path';
import { expect } from '@jest/globals';
import { testOperations } from '@rest-services/service/testing';

testOperations({
  name: 'todos',
  main: join(import.meta.dirname, '../src/main.ts'),
  defaultPort: 3000,
  list: '/api/todos',
  record: { description: 'Buy milk' },
  firstMigration: '0001_todo',
  writes: (number) => [
    { method: 'POST', path: '/api/todos', body: { description: `Todo ${number}` } },
    { method: 'PUT', path: '/api/todos', body: { id: number, description: 'Done', isCompleted: 1 } },
  ],
  failure: { message: 'Internal Server Error', error: { code: expect.any(String) } },
});
