export { CHUNK_ROWS, inChunks } from './chunks.ts';
export { migrate, pendingMigrations, type Migrations } from './migrations.ts';
export { openDatabase, poolUse, type DatabaseOptions, type PoolUse } from './open-database.ts';
