import { createRowCounts, type Migrations, type RowCounts } from '@rest-services/database';
import { sql, type Generated, type Kysely } from 'kysely';

export interface LanguagesDatabase {
  programming_language: {
    id: Generated<number>;
    name: string;
    released_year: number;
    githut_rank: number | null;
    pypl_rank: number | null;
    tiobe_rank: number | null;
    created_at: Generated<string>;
    updated_at: Generated<string>;
  };
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
  '0002_row_counts': { up: countLanguages },
  '0003_row_counts_of_slots': { up: countLanguages },
  '0004_row_counts_by_changes': { up: countLanguages },
};

function countLanguages<DB>(db: Kysely<DB>) {
  return createRowCounts(db, rowCounts);
}
