import {
  testColumns,
  testConditionalRequests,
  testDocument,
  testOperations,
  testReadme,
  testRecordedResponses,
} from '@rest-services/testing';

const main = 'dist/main.js';

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
  writes: (number) => [
    { method: 'POST', path: '/programming-languages', body: { name: `New ${number}`, released_year: 2010 } },
    { method: 'PUT', path: `/programming-languages/${number}`, body: { name: `Put ${number}`, released_year: 2011 } },
    { method: 'DELETE', path: `/programming-languages/${number}` },
  ],
  failure: { message: 'Internal Server Error' },
});
