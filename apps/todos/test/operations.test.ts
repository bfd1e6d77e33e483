import { join } from 'node:path';
import { testOperations } from '@rest-services/service/testing';

testOperations({
  main: join(import.meta.dirname, '../src/main.ts'),
  defaultPort: 3000,
  list: '/api/todos',
  record: { description: 'Buy milk' },
  firstMigration: '0001_todo',
});
