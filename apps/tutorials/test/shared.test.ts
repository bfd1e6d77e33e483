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
  { method: 'POST', path: '/api/tutorials', body: { title: `Tutorial ${number}` } },
  { method: 'PUT', path: `/api/tutorials/${number}`, body: { published: true } },
  { method: 'DELETE', path: `/api/tutorials/${number}` },
  { method: 'DELETE', path: '/api/tutorials' },
];

testDocument('tutorials', main);
testReadme(main, 'README.md');
testRecordedResponses(main, 'test/recorded-responses.json');
testColumns({ main, table: 'tutorial', list: '/api/tutorials', readme: 'README.md' });
testConditionalRequests({
  main,
  list: '/api/tutorials',
  record: { title: 'Fastify', description: 'A web framework' },
  one: (id) => `/api/tutorials/${id}`,
  changes: (id, title) => [
    { method: 'PUT', path: `/api/tutorials/${id}`, body: { title } },
    { method: 'DELETE', path: `/api/tutorials/${id}` },
  ],
  missing: 404,
  isStreamed: true,
});
testOperations({
  name: 'tutorials',
  main,
  list: '/api/tutorials',
  record: { title: 'Fastify' },
  firstMigration: '0001_',
  writes,
  failure: { message: 'Internal Server Error' },
});
testIdempotencyKeys({ main, table: 'tutorial', list: '/api/tutorials', writes });
