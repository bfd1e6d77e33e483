import { join } from 'node:path';
import { testOperations } from '@rest-services/service/testing';

testOperations({
  name: 'programming-languages',
  main: join(import.meta.dirname, '../src/main.ts'),
  defaultPort: 3000,
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
