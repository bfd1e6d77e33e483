import {
  boundFolds,
  createIdempotencyKeys,
  createRowCounts,
  type Migrations,
  type RowCounts,
} from '@rest-services/database';
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
      await createRowCounts(db, rowCounts);
    },
  },
  '0002_idempotency_keys': { up: createIdempotencyKeys },
  '0003_bounded_folds': { up: (db) => boundFolds(db, rowCounts) },
};
