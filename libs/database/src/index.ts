export { coalesced } from './batching.ts';
export { CHUNK_ROWS, chunksAfter, inChunks, type LongList } from './chunks.ts';
export { codeOf } from './connection.ts';
export { containing } from './containing.ts';
export { migrate, pendingMigrations, type Migrations } from './migrations.ts';
export { openDatabase, parseConnectionUrl, poolUse } from './open-database.ts';
export { pagesOf } from './pages.ts';
export { keepRowCounts } from './row-counts.ts';
export { deletingById, inserting, readingById, updatingById } from './shared-statements.ts';
