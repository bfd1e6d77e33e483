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
  { method: 'POST', path: '/programming-languages', body: { name: `New ${number}`, released_year: 2010 } },
  { method: 'PUT', path: `/programming-languages/${number}`, body: { name: `Put ${number}`, released_year: 2011 } },
  { method: 'DELETE', path: `/programming-languages/${number}` },
];

testDocument('programming-languages', main);
testReadme(main, 'README.md');
testRecordedResponses(main, 'test/recorded-responses.json');
testColumns({ main, table: 'programming_language', list: '/programming-languages', readme: 'README.md' });
testConditionalRequests({
  main,
  list: '/programming-languages',
  record: { name: 'Rust', released_year: 2010 },
  changes: (id, name) => [
    { method: 'PUT', path: `/programming-languages/${id}`, body: { name, released_year: 2010 } },
    { method: 'DELETE', path: `/programming-languages/${id}` },
  ],
  missing: 412,
});
testOperations({
  name: 'programming-languages',
  main,
  list: '/programming-languages',
  record: { name: 'Rust', released_year: 2010 },
  firstMigration: '0001_',
  writes,
  failure: { message: 'Internal Server Error' },
});
testIdempotencyKeys({ main, table: 'programming_language', list: '/programming-languages', writes });
