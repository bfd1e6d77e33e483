import { sql, type QueryExecutorProvider } from 'kysely';
import { errorCode, SQLSTATE } from '@rest-services/errors';
import type { Database } from '../database.ts';

/** The first release with `client_connection_check_interval`, with which the sessions of requests and migrations begin. */
const OLDEST_MAJOR_VERSION = 14;

interface ServerFacts {
  version: string;
  encoding: string;
}

/**
 * Checks that the services can use the database: its encoding holds every character, and its server is not too old.
 * @param db with sessions for checks: an older server refuses the parameters of others before it tells its version
 * @throws Error that names what the database has and what it must have, or the error of a connection that fails
 */
export async function checkServer<Tables>(db: Database<Tables>): Promise<void> {
  const { rows } = await sql<ServerFacts>`
    select current_setting('server_version') as version, current_setting('server_encoding') as encoding`.execute(db);
  const { version, encoding } = rows[0]!;
  if (parseInt(version, 10) < OLDEST_MAJOR_VERSION) {
    throw new Error(`PostgreSQL must be version ${OLDEST_MAJOR_VERSION} or newer; it is ${version}`);
  }
  if (encoding !== 'UTF8') throw new Error(`The encoding of the database must be UTF8; it is ${encoding}`);
}

/**
 * Checks that sessions get their parameters.
 * @throws Error that names DATABASE_POOLER when a pooler refuses or ignores them, or the error of a connection that fails
 */
export async function checkSessions<Tables>(db: Database<Tables>): Promise<void> {
  if (!db.supportsSessionState) return;
  try {
    const { rows } = await sql<{ mode: string }>`select current_setting('plan_cache_mode') as mode`.execute(db);
    if (rows[0]!.mode === 'force_generic_plan') return;
  } catch (error) {
    if (errorCode(error) !== SQLSTATE.PROTOCOL_VIOLATION) throw error;
  }
  throw new Error('DATABASE_POOLER must be transaction: DATABASE_URL leads to a pooler');
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
