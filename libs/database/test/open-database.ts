// What the files share: a database of their own, which they open in several ways.
import { afterAll } from '@jest/globals';
import { createTestDatabase } from '@rest-services/local-postgres';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { resultTypes } from '../src/connection/result-types.ts';
import { Database, type DatabaseOptions } from '../src/index.ts';

export const database = await createTestDatabase();
const opened: { destroy(): Promise<void> }[] = [];

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

/** Opens a database with all of its connections: on a busy machine, one takes longer than a request waits for it. */
export async function openConnected<Tables>(options: Partial<DatabaseOptions> = {}) {
  const db = open<Tables>(options);
  while (db.poolUse.idle < db.poolMax)
    await Promise.allSettled(Array.from({ length: db.poolMax }, () => sql`select`.execute(db)));
  return db;
}

/** Opens one connection that no time limit ends, however busy the machine is, until the end of the file. */
export function openPatient<Tables>(connectionString = database.url): Kysely<Tables> {
  const pool = new pg.Pool({ connectionString, max: 1, types: resultTypes() });
  // Without listeners, the end of the database would end the test process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  opened.push(db);
  return db;
}
