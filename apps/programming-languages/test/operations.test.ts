import { join } from 'node:path';
import { testOperations } from '@rest-services/service/testing';

testOperations({
  main: join(import.meta.dirname, '../src/main.ts'),
  defaultPort: 3000,
  list: '/programming-languages',
  record: { name: 'Rust', released_year: 2010 },
  firstMigration: '0001_',
});
