import { keepRowCounts, type Migrations } from '@rest-services/database';
import { sql, type Generated, type Kysely } from 'kysely';

export interface ItemsDatabase {
  item: {
    id: Generated<number>;
    title: string;
    status: Generated<'Doing' | 'Finished'>;
    created_at: Generated<string>;
    updated_at: Generated<string>;
  };
  item_count: { total: number; finished: number };
}

/** Append only: a migration that has been released is never edited. */
export const migrations: Migrations = {
  '0001_item': {
    async up(db) {
      await db.schema
        .createTable('item')
        .addColumn('id', 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity())
        .addColumn('title', 'varchar(150)', (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull().defaultTo('Doing'))
        .addColumn('created_at', 'timestamptz(3)', (column) => column.notNull().defaultTo(sql`now()`))
        .addColumn('updated_at', 'timestamptz(3)', (column) => column.notNull().defaultTo(sql`now()`))
        .addCheckConstraint('item_status', sql`status in ('Doing', 'Finished')`)
        .execute();
    },
  },
  '0002_row_counts': { up: keepCounts },
  '0003_row_counts_of_slots': { up: keepCounts },
};

/** It brings a table to the present state, also one that has been there already; see its description. */
function keepCounts<DB>(db: Kysely<DB>) {
  return keepRowCounts(db, 'item', { finished: "status = 'Finished'" });
}
