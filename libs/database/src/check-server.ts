import { sql } from 'kysely';
import { openDatabase, type DatabaseOptions } from './open-database.ts';

/** The first release with `client_connection_check_interval`, with which the sessions of requests and migrations begin. */
const OLDEST_MAJOR_VERSION = 14;

type Connection = Pick<DatabaseOptions, 'url' | 'applicationName' | 'onConnectionError'>;

interface Server {
  version: string;
  encoding: string;
}

/**
 * Checks that the services can use the database: its encoding holds every character, and its server is not too old.
 * @throws Error that names what the database has and what it must have, or the error of a connection that fails
 */
export async function checkServer(connection: Connection): Promise<void> {
  // An older server would refuse the parameters of a direct session before it has told its version.
  const db = openDatabase({ ...connection, direct: false, poolMax: 1 });
  try {
    const { rows } = await sql<Server>`
      select current_setting('server_version') as version, current_setting('server_encoding') as encoding`.execute(db);
    const { version, encoding } = rows[0]!;
    if (parseInt(version, 10) < OLDEST_MAJOR_VERSION) {
      throw new Error(`PostgreSQL must be version ${OLDEST_MAJOR_VERSION} or newer; it is ${version}`);
    }
    if (encoding !== 'UTF8') throw new Error(`The encoding of the database must be UTF8; it is ${encoding}`);
  } finally {
    await db.destroy();
  }
}
