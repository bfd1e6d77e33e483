import {
  createIdempotencyKeys,
  createRowCounts,
  type Migrations,
  type RowCounts,
  type Table,
} from '@rest-services/database';
import { sql } from 'kysely';
import type { Static } from 'typebox';
import type { Item } from './schemas.ts';

export interface ItemsDatabase {
  item: Table<Static<typeof Item>, 'title'>;
  item_count: { total: number; finished: number };
}

export const rowCounts: RowCounts = {
  table: 'item',
  filter: { name: 'finished', column: 'status', value: 'Finished' },
};

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
  '0002_row_counts': { up: (db) => createRowCounts(db, rowCounts) },
  '0003_idempotency_keys': { up: createIdempotencyKeys },
};
