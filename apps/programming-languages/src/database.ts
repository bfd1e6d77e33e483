import {
  createIdempotencyKeys,
  createRowCounts,
  type Migrations,
  type RowCounts,
  type Table,
} from '@rest-services/database';
import { sql } from 'kysely';
import type { Static } from 'typebox';
import type { StoredLanguage } from './schemas.ts';

export interface LanguagesDatabase {
  programming_language: Table<Static<typeof StoredLanguage>, 'name' | 'released_year'>;
}

export const rowCounts: RowCounts = { table: 'programming_language' };

/** What the caller is told when a constraint is broken. */
export const constraints = {
  programming_language_name_unique: 'Name is taken by another programming language',
  programming_language_name_not_blank: 'Name cannot be empty',
};

/** Append only: a migration that has been released is never edited. */
export const migrations: Migrations = {
  '0001_programming_language': {
    async up(db) {
      await db.schema
        .createTable('programming_language')
        .addColumn('id', 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity())
        .addColumn('name', 'varchar(255)', (column) => column.notNull())
        .addColumn('released_year', 'integer', (column) => column.notNull())
        .addColumn('githut_rank', 'integer')
        .addColumn('pypl_rank', 'integer')
        .addColumn('tiobe_rank', 'integer')
        .addColumn('created_at', 'timestamptz(3)', (column) => column.notNull().defaultTo(sql`now()`))
        .addColumn('updated_at', 'timestamptz(3)', (column) => column.notNull().defaultTo(sql`now()`))
        .addUniqueConstraint('programming_language_name_unique', ['name'])
        .addCheckConstraint('programming_language_name_not_blank', sql`btrim(name) <> ''`)
        .execute();
    },
  },
  '0002_row_counts': { up: (db) => createRowCounts(db, rowCounts) },
  '0003_idempotency_keys': { up: createIdempotencyKeys },
};
