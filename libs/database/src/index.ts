export { CHUNK_ROWS, inChunks } from './chunks.ts';
export { migrate, pendingMigrations, type Migrations } from './migrations.ts';
export { openDatabase, type DatabaseOptions } from './open-database.ts';
