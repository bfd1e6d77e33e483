import { join } from 'node:path';
import { testOperations } from '@rest-services/service/testing';

testOperations({
  main: join(import.meta.dirname, '../src/main.ts'),
  defaultPort: 8080,
  list: '/api/tutorials',
  record: { title: 'Fastify' },
  firstMigration: '0001_',
});
