import { join } from 'node:path';
import { testOperations } from '@rest-services/service/testing';

testOperations({
  main: join(import.meta.dirname, '../src/main.ts'),
  defaultPort: 8080,
  list: '/v1/items',
  record: { title: 'Buy milk' },
  firstMigration: '0001_item',
});
