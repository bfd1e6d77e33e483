import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** Duplicate database; and the same, found out a moment later because two created it at once. */
const ALREADY_THERE = ['42P04', '23505'];

/**
 * Makes sure that the server has a database of this name.
 * @param serverUrl connection string of any database of the server, for a role that may create databases
 * @returns the connection string of the named database
 */
export async function ensureDatabase(serverUrl: string, name: string): Promise<string> {
  try {
    await onServer(serverUrl, `create database ${pg.escapeIdentifier(name)}`);
  } catch (error) {
    if (!ALREADY_THERE.includes((error as pg.DatabaseError).code ?? '')) throw error;
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** An empty database of a test file's own. */
export interface TestDatabase {
  url: string;
  /** Removes it, closing the connections that are still open. */
  drop(): Promise<void>;
}

/**
 * Creates an empty database on the server that `jest-setup` has started, or on the one that `DATABASE_URL` names.
 * @throws Error when the test runner was configured without `jest-setup`
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = process.env.TEST_SERVER_URL;
  if (!server) throw new Error('jest.config.mjs lacks globalSetup: @rest-services/local-postgres/jest-setup');
  const name = `test_${randomBytes(8).toString('hex')}`;
  return {
    url: await ensureDatabase(server, name),
    drop: () => onServer(server, `drop database ${pg.escapeIdentifier(name)} with (force)`),
  };
}

async function onServer(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
