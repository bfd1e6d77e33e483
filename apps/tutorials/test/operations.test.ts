import { join } from 'node:path';
import { testOperations } from '@rest-services/service/testing';

testOperations({
  name: 'tutorials',
  main: join(import.meta.dirname, '../src/main.ts'),
  defaultPort: 8080,
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
