import { createIdempotencyKeys, type Migrations, type Table } from '@rest-services/database';
import { sql } from 'kysely';
import type { Static } from 'typebox';
import type { Todo } from './schemas.ts';

export interface TodosDatabase {
  todo: Table<Static<typeof Todo>, 'description'>;
}

/** Append only: a migration that has been released is never edited. */
export const migrations: Migrations = {
  '0001_todo': {
    async up(db) {
      await db.schema
        .createTable('todo')
        .addColumn('id', 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity())
        .addColumn('description', 'varchar(255)', (column) => column.notNull())
        .addColumn('isCompleted', 'smallint', (column) => column.notNull().defaultTo(0))
        .addCheckConstraint('todo_is_completed', sql`"isCompleted" in (0, 1)`)
        .execute();
    },
  },
  '0002_idempotency_keys': { up: createIdempotencyKeys },
};
