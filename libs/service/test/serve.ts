import type { AddressInfo } from 'node:net';
import { migrate } from '@rest-services/database';
import { createTestDatabase } from '@rest-services/local-postgres';
import { closedAtEnd, responseChecker, sendJson, type OpenApiDocument } from '@rest-services/testing';
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
  const check = responseChecker(app.swagger() as unknown as OpenApiDocument);

  return {
    url,
    app,
    db,
    /** @throws Error when the service's OpenAPI document lacks the response */
    async request(method: string, path: string, body?: unknown, headers?: Record<string, string>) {
      const response = await sendJson(url, method, path, body, headers);
      check(method, path, response.status, response.body);
      return response;
    },

    stop: closedAtEnd(async () => {
      await app.close();
      await db.destroy();
      await database.drop();
    }),
  };
}
