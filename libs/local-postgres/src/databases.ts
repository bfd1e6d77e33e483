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
    await withClient(serverUrl, (client) => client.query(`create database ${quoted(name)}`));
  } catch (error) {
    if (!ALREADY_THERE.includes((error as pg.DatabaseError).code ?? '')) throw error;
  }
  return urlOf(serverUrl, name);
}

/** A database of a test's own. */
export interface TestDatabase {
  url: string;
  /** Removes it, closing the connections that are still open. */
  drop(): Promise<void>;
}

/** Advisory lock of the one that makes a template. */
const TEMPLATE_LOCK = 7_236_452;

/**
 * Creates an empty database on the server that `jest-setup` has started, or on the one that `DATABASE_URL` names.
 * @throws Error when the test runner was configured without `jest-setup`
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = testName();
  return { url: await ensureDatabase(testServer(), name), drop: () => drop(name) };
}

/**
 * Creates a database as `prepare` makes an empty one. On the server of the tests, the first call with a key makes a template, which
 * the others copy; on the one that `DATABASE_URL` names, where it would stay, each call prepares its own.
 */
export async function createPreparedDatabase(key: string, prepare: (url: string) => void): Promise<TestDatabase> {
  if (process.env.DATABASE_URL) {
    const database = await createTestDatabase();
    prepare(database.url);
    return database;
  }
  const [name, template] = [testName(), `template_${key}`];
  const url = await withClient(testServer(), async (client) => {
    await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [template]);
    if (rowCount === 0) {
      prepare(await ensureDatabase(testServer(), `${template}_draft`));
      await client.query(`alter database ${quoted(`${template}_draft`)} rename to ${quoted(template)}`);
    }
    await client.query('select pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
    await client.query(`create database ${quoted(name)} template ${quoted(template)}`);
    return urlOf(testServer(), name);
  });
  return { url, drop: () => drop(name) };
}

function testServer() {
  const server = process.env.TEST_SERVER_URL;
  if (!server) throw new Error('jest.config.mjs lacks globalSetup: @rest-services/local-postgres/jest-setup');
  return server;
}

const testName = () => `test_${randomBytes(8).toString('hex')}`;
const drop = (name: string) =>
  withClient(testServer(), async (client) => {
    await client.query(`drop database ${quoted(name)} with (force)`);
  });
const quoted = (name: string) => pg.escapeIdentifier(name);

const urlOf = (serverUrl: string, name: string) => Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;

/** Runs `act` with a connection of its own. */
export async function withClient<Result>(url: string, act: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // Without a listener, the end of the server would end the process; the statement in flight reports it.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await act(client);
  } finally {
    await client.end();
  }
}
