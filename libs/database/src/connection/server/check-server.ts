import { sql, type QueryExecutorProvider } from 'kysely';
import { errorCode, SQLSTATE } from '@rest-services/errors';
import type { Database } from '../database.ts';

/** The first release with `client_connection_check_interval`, with which the sessions of requests and migrations begin. */
const OLDEST_MAJOR_VERSION = 14;

/**
 * Checks that the services can use the database: its encoding holds every character, and its server is not too old.
 * @param db with sessions for checks: an older server refuses the parameters of others before it tells its version
 * @throws Error that names what the database has and what it must have, or the error of a connection that fails
 */
export async function checkServer<Tables>(db: Database<Tables>): Promise<void> {
  const { rows } = await sql<{ version: string; encoding: string }>`
    select current_setting('server_version') as version, current_setting('server_encoding') as encoding`.execute(db);
  const { version, encoding } = rows[0]!;
  if (parseInt(version, 10) < OLDEST_MAJOR_VERSION) {
    throw new Error(`PostgreSQL must be version ${OLDEST_MAJOR_VERSION} or newer; it is ${version}`);
  }
  if (encoding !== 'UTF8') throw new Error(`The encoding of the database must be UTF8; it is ${encoding}`);
}

/**
 * Checks that sessions get their parameters.
 * @throws Error that names DATABASE_POOLER, or the error of a connection that fails
 */
export async function checkSessions<Tables>(db: Database<Tables>): Promise<void> {
  if (db.supportsSessionState && !(await hasParameter(db, 'plan_cache_mode', 'force_generic_plan')))
    throw new Error('DATABASE_POOLER must be transaction: DATABASE_URL leads to a pooler');
}

/** Whether a session has a parameter with which it begins: a pooler refuses or ignores them. */
export async function hasParameter(db: QueryExecutorProvider, name: string, value: string) {
  try {
    const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(db);
    return rows[0]!.value === value;
  } catch (error) {
    if (errorCode(error) !== SQLSTATE.PROTOCOL_VIOLATION) throw error;
    return false;
  }
}

/**
 * Checks that the server takes writes.
 * @throws Error with the code 25006 when it does not, by which the session is closed: it would stay read-only; or the error of a
 * connection that fails
 */
export async function checkWritable(db: QueryExecutorProvider): Promise<void> {
  await sql`do $$ begin
    if current_setting('transaction_read_only')::boolean then
      raise read_only_sql_transaction using message = 'the server takes no writes';
    end if;
  end $$`.execute(db);
}
