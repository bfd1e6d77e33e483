import { testColumns, testDocument, testOperations, testReadme } from '@rest-services/testing';

const main = 'dist/main.js';

testDocument('tutorials', main);
testReadme(main, 'README.md');
testColumns({ main, table: 'tutorial', list: '/api/tutorials', readme: 'README.md' });
testOperations({
  name: 'tutorials',
  main,
  list: '/api/tutorials',
  record: { title: 'Fastify' },
  firstMigration: '0001_',
  writes: (number) => [
    { method: 'POST', path: '/api/tutorials', body: { title: `Tutorial ${number}` } },
    { method: 'PUT', path: `/api/tutorials/${number}`, body: { published: true } },
    { method: 'DELETE', path: `/api/tutorials/${number}` },
    { method: 'DELETE', path: '/api/tutorials' },
  ],
  failure: { message: 'Internal Server Error' },
});
