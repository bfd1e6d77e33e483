import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { closedAtEnd } from '../closed-at-end.ts';

/** Opens a database for what a test does beside the service. Statements have no timeouts, because a busy machine would exceed them. */
export function openTestConnection<Tables>(url: string) {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString());
  const pool = new pg.Pool({ connectionString: url, types });
  // Without a listener, the end of the server would end the test process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    // A failed test may not have given it back, for which the end of the pool would wait.
    closedAtEnd(() => client.end());
  });
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}
