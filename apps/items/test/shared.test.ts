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
  { method: 'POST', path: '/v1/items', body: { title: `Item ${number}` } },
  { method: 'PUT', path: `/v1/items/${number}`, body: { status: 'Finished' } },
  { method: 'DELETE', path: `/v1/items/${number}` },
];

testDocument('items', main);
testReadme(main, 'README.md');
testRecordedResponses(main, 'test/recorded-responses.json');
testColumns({ main, table: 'item', list: '/v1/items', readme: 'README.md' });
testConditionalRequests({
  main,
  list: '/v1/items',
  record: { title: 'Buy milk' },
  one: (id) => `/v1/items/${id}`,
  changes: (id, title) => [
    { method: 'PUT', path: `/v1/items/${id}`, body: { title } },
    { method: 'DELETE', path: `/v1/items/${id}` },
  ],
  missing: 404,
});
testOperations({
  name: 'items',
  main,
  list: '/v1/items',
  record: { title: 'Buy milk' },
  firstMigration: '0001_item',
  writes,
  failure: { message: 'Database error', error: { code: expect.any(String) } },
});
testIdempotencyKeys({ main, table: 'item', list: '/v1/items', writes });
