// What the files share whose tests migrate a database: each test has an empty one.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { Database } from '../src/index.ts';

let database: TestDatabase;
/** Of one session. */
export let db: Database<Record<string, never>>;

export const options = () => ({ url: database.url, onConnectionError: () => undefined });

beforeEach(async () => {
  database = await createTestDatabase();
  db = new Database({ ...options(), poolMax: 1 });
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
});

/** Starts a program of this folder on the database. */
export const startProgram = (program: 'holder.ts' | 'index-creator.ts') =>
  spawn(process.execPath, [join(import.meta.dirname, program), database.url], { stdio: ['ignore', 'pipe', 'inherit'] });
