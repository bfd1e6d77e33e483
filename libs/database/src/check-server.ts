import { sql, type Kysely } from 'kysely';

/** The first release with `client_connection_check_interval`, with which the sessions of requests and migrations begin. */
const OLDEST_MAJOR_VERSION = 14;

interface Server {
  version: string;
  encoding: string;
}

/**
 * Checks that the services can use the database: its encoding holds every character, and its server is not too old.
 * @param db opened with `direct: false`: an older server refuses the parameters of a direct session before it tells its version
 * @throws Error that names what the database has and what it must have, or the error of a connection that fails
 */
export async function checkServer<Tables>(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<Server>`
    select current_setting('server_version') as version, current_setting('server_encoding') as encoding`.execute(db);
  const { version, encoding } = rows[0]!;
  if (parseInt(version, 10) < OLDEST_MAJOR_VERSION) {
    throw new Error(`PostgreSQL must be version ${OLDEST_MAJOR_VERSION} or newer; it is ${version}`);
  }
  if (encoding !== 'UTF8') throw new Error(`The encoding of the database must be UTF8; it is ${encoding}`);
}
