import { createIdempotencyKeys, createRowCounts, type Migrations, type RowCounts } from '@rest-services/database';
import type { Generated } from 'kysely';

export interface NotesDatabase {
  note: { id: Generated<number>; title: string };
  note_count: { total: number };
}

export const rowCounts: RowCounts = { table: 'note' };

export const migrations: Migrations = {
  '0001_note': {
    async up(db) {
      await db.schema
        .createTable('note')
        .addColumn('id', 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity())
        .addColumn('title', 'text', (column) => column.notNull())
        .execute();
    },
  },
  '0002_row_counts': { up: (db) => createRowCounts(db, rowCounts) },
  '0003_idempotency_keys': { up: createIdempotencyKeys },
};
