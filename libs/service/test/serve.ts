import type { AddressInfo } from 'node:net';
import { migrate } from '@rest-services/database';
import { createTestDatabase } from '@rest-services/local-postgres';
import { checkedRequests, closedAtEnd } from '@rest-services/testing';
import { assembleService, type ServiceDefinition } from '../src/assemble-service.ts';
import { loadSettings } from '../src/settings.ts';

/** Runs a service inside the test process, for tests that reach into it. Other tests start the bundle as a process. */
export async function serve<Tables>(
  definition: Omit<ServiceDefinition<Tables>, 'name'>,
  environment: NodeJS.ProcessEnv = {},
) {
  const database = await createTestDatabase();
  const settings = loadSettings({ LOG_LEVEL: 'silent', DATABASE_URL: database.url, ...environment }, 0);
  const { app, db, migrationConnection } = await assembleService({ name: 'test', ...definition }, settings);
  await migrate(migrationConnection, definition.migrations);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

  return {
    url,
    app,
    db,
    request: checkedRequests(url),
    stop: closedAtEnd(async () => {
      await app.close();
      await db.destroy();
      await database.drop();
    }),
  };
}
