import { createIdempotencyKeys, searchIndex, type Migrations, type Table } from '@rest-services/database';
import { sql } from 'kysely';
import type { Static } from 'typebox';
import type { Tutorial } from './schemas.ts';

export interface TutorialsDatabase {
  tutorial: Table<Static<typeof Tutorial>, 'title'>;
}

/** Append only: a migration that has been released is never edited. */
export const migrations: Migrations = {
  '0001_tutorial': {
    async up(db) {
      await db.schema
        .createTable('tutorial')
        .addColumn('id', 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity())
        .addColumn('title', 'varchar(255)', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull().defaultTo(''))
        .addColumn('published', 'boolean', (column) => column.notNull().defaultTo(false))
        .execute();
      // Among millions of drafts, the few that are published would not be found within the time of a request.
      await sql`create index tutorial_published on tutorial (id) where published`.execute(db);
    },
  },
  '0002_title_search': searchIndex('tutorial', 'title'),
  '0003_idempotency_keys': { up: createIdempotencyKeys },
};
