export { coalesced } from './batching.ts';
export { checkServer } from './check-server.ts';
export { CHUNK_ROWS, chunksAfter, inChunks, type LongList } from './chunks.ts';
export { codeOf } from './connection.ts';
export { containing } from './containing.ts';
export { createFoldCase } from './fold-case.ts';
export { migrate, pendingMigrations, type AppliedMigration, type Migrations } from './migrations.ts';
export { isAnswering, openDatabase, parseConnectionUrl, poolUse, type DatabaseOptions } from './open-database.ts';
export { pagesOf } from './pages.ts';
export {
  checkRowCounts,
  createRowCounts,
  foldRowCounts,
  recountRows,
  sampleRowCounts,
  type RowCountCheck,
  type RowCounts,
} from './row-counts.ts';
export { deletingById, inserting, readingById, updatingById } from './shared-statements.ts';
