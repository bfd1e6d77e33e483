export { Database, type DatabaseOptions, type PoolUse } from './connection/database.ts';
export { checkServer, checkSessions } from './connection/check-server.ts';
export { parseConnectionUrl } from './connection/connection-url.ts';
export { createFoldCase } from './migrations/fold-case.ts';
export { migrate, pendingMigrations, type AppliedMigration, type Migrations } from './migrations/migrate.ts';
export {
  checkRowCounts,
  createRowCounts,
  foldRowCounts,
  recountRows,
  sampleRowCounts,
  type RowCountCheck,
  type RowCounts,
} from './migrations/row-counts.ts';
export { type List } from './rows/list.ts';
export { repository, type Page, type Repository } from './rows/repository.ts';
export { type Table } from './rows/table.ts';
export { errorCode, SQLSTATE } from './sqlstate.ts';
