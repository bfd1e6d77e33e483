import { closedAtEnd } from '../closed-at-end.ts';
import { createMigratedDatabase } from '../database/migrated-database.ts';
import { openTestConnection } from '../database/open-test-connection.ts';
import { startProcess } from './process.ts';
import { checkedRequests } from './check-response.ts';

/** A service that `startService` has started. */
export type TestService<Tables = unknown> = Awaited<ReturnType<typeof startService<Tables>>>;

/**
 * Starts a service as a process, on a free port and with empty tables.
 * @param main path of the bundle
 * @param environment settings other than the defaults
 */
export async function startService<Tables>(main: string, environment: NodeJS.ProcessEnv = {}) {
  const database = await createMigratedDatabase(main);
  const { listening, ...service } = startProcess(main, { DATABASE_URL: database.url, ...environment });
  const url = await listening();
  const db = openTestConnection<Tables>(database.url);

  return {
    ...service,
    url,
    database,
    db,
    request: checkedRequests(url),

    /** Ends the process and drops the database. */
    stop: closedAtEnd(async () => {
      service.child.kill('SIGTERM');
      await service.ended;
      await db.destroy();
      await database.drop();
    }),
  };
}
