// What most files share: a database of their own, which they open in several ways.
import { afterAll, beforeAll } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import type { Kysely } from 'kysely';
import { Database, type DatabaseOptions } from '../src/index.ts';
import { connectPatiently } from './patient.ts';

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

/** Opens one connection that no time limit ends, until the end of the file. */
export function openPatient<Tables>(url = database.url): Kysely<Tables> {
  const db = connectPatiently<Tables>(url);
  opened.push(db);
  return db;
}
