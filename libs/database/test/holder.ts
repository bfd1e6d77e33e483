// A process that holds the lock of the migrations until it is killed: see migrations.test.ts
import { sql } from 'kysely';
import { migrate } from '../src/index.ts';

await migrate(
  { url: process.argv[2]!, onConnectionError: () => undefined },
  {
    '0001_a': {
      async up(db) {
        await db.schema.createTable('a').addColumn('id', 'integer').execute();
        console.log('holding');
        await sql`select pg_sleep(600)`.execute(db);
      },
    },
  },
);
