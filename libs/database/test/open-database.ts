// What most files share: a database of their own, which they open in several ways.
import { afterAll, beforeAll } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { Database, type DatabaseOptions } from '../src/index.ts';

export let database: TestDatabase;
const opened: { destroy(): Promise<void> }[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  // Tests have destroyed some themselves.
  await Promise.allSettled(opened.map((db) => db.destroy()));
  await database.drop();
});

/** Opens a database, by default that of the file with one connection, until the end of the file. */
export function open<Tables>(options: Partial<DatabaseOptions> = {}): Database<Tables> {
  const db = new Database<Tables>({ url: database.url, poolMax: 1, onConnectionError: () => undefined, ...options });
  opened.push(db);
  return db;
}
