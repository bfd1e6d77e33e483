import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { resultTypes } from '../src/connection/result-types.ts';

/** Opens one connection that no time limit ends, however busy the machine is. */
export function connectPatiently<Tables>(connectionString: string): Kysely<Tables> {
  const pool = new pg.Pool({ connectionString, max: 1, types: resultTypes() });
  // Without listeners, the end of the database would end the test process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}
