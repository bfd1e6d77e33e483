// A process that creates an index: see concurrent-index.test.ts
import { sql } from 'kysely';
import { migrate, type Migrations } from '../src/index.ts';

export const released: Migrations = {
  '0001_item': { up: (db) => sql`create table item (status text)`.execute(db).then(() => undefined) },
};
export const indexed: Migrations = {
  ...released,
  '0002_item_status': { createIndexConcurrently: 'item_status', on: 'item', definition: sql`(status)` },
};

if (import.meta.main) {
  await migrate({ url: process.argv[2]!, onConnectionError: () => undefined }, indexed);
}
