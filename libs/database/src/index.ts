export { Database, type DatabaseOptions } from './connection/database.ts';
export { checkServer, checkSessions, checkWritable } from './connection/server/check-server.ts';
export { ConnectionUrlError, parseConnectionUrl } from './connection/server/connection-url.ts';
export { prepared } from './connection/statement.ts';
export { createIdempotencyKeys } from './migrations/idempotency-keys.ts';
export { migrate, pendingMigrations, type Migrations } from './migrations/migrate.ts';
export { Distribution } from './distribution.ts';
export {
  createRowCounts,
  foldRowCounts,
  MAX_FOLDED_CHANGES,
  measureRowCounts,
  recountRows,
  type RowCounts,
} from './migrations/row-counts.ts';
export { searchIndex } from './migrations/search.ts';
export { type IdempotencyKey } from './rows/writes/insert.ts';
export { type List } from './rows/reads/list.ts';
export { type Page } from './rows/reads/page.ts';
export { Repository } from './rows/repository.ts';
export { type Table } from './rows/shapes.ts';
