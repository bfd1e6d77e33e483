import { createCaseless, createIdempotencyKeys, type Migrations, type Table } from '@rest-services/database';
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
    },
  },
  '0002_title_search': {
    async up(db) {
      // Trigrams let a search for any part of a title use an index. The extension is a trusted one: no superuser needed.
      await sql`create extension if not exists pg_trgm`.execute(db);
      await sql`create index tutorial_title on tutorial using gin (title gin_trgm_ops)`.execute(db);
    },
  },
  '0003_published': {
    async up(db) {
      // Among millions of drafts, the few that are published would not be found within the time of a request.
      await sql`create index tutorial_published on tutorial (id) where published`.execute(db);
    },
  },
  // The release before this one searches by `tutorial_title`.
  '0004_folded_title_search': {
    prepare: createCaseless,
    createIndexConcurrently: 'tutorial_folded_title',
    on: 'tutorial',
    definition: sql`using gin (fold_case(title) gin_trgm_ops)`,
  },
  '0005_idempotency_keys': { up: createIdempotencyKeys },
};
