import { expect } from '@jest/globals';
import {
  testColumns,
  testConditionalRequests,
  testDocument,
  testOperations,
  testReadme,
  testRecordedResponses,
} from '@rest-services/testing';

const main = 'dist/main.js';

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
  writes: (number) => [
    { method: 'POST', path: '/v1/items', body: { title: `Item ${number}` } },
    { method: 'PUT', path: `/v1/items/${number}`, body: { status: 'Finished' } },
    { method: 'DELETE', path: `/v1/items/${number}` },
  ],
  failure: { message: 'Database error', error: { code: expect.any(String) } },
});
