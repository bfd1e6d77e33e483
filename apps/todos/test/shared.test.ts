import { expect } from '@jest/globals';
import {
  testColumns,
  testConditionalRequests,
  testDocument,
  testIdempotencyKeys,
  testOperations,
  testReadme,
  testRecordedResponses,
  type Write,
} from '@rest-services/testing';

const main = 'dist/main.js';
const writes = (number: number): [Write, ...Write[]] => [
  { method: 'POST', path: '/api/todos', body: { description: `Todo ${number}` } },
  { method: 'PUT', path: '/api/todos', body: { id: number, description: 'Done', isCompleted: 1 } },
];

testDocument('todos', main);
testReadme(main, 'README.md');
testRecordedResponses(main, 'test/recorded-responses.json');
testColumns({ main, table: 'todo', list: '/api/todos', readme: 'README.md' });
testConditionalRequests({
  main,
  list: '/api/todos',
  record: { description: 'Buy milk' },
  one: (id) => `/api/todos/${id}`,
  changes: (id, description) => [{ method: 'PUT', path: '/api/todos', body: { id, description, isCompleted: 0 } }],
  missing: 404,
  isStreamed: true,
});
testOperations({
  name: 'todos',
  main,
  list: '/api/todos',
  record: { description: 'Buy milk' },
  firstMigration: '0001_todo',
  writes,
  failure: { message: 'Internal Server Error', error: { code: expect.any(String) } },
});
testIdempotencyKeys({ main, table: 'todo', list: '/api/todos', writes });
