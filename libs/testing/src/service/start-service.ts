import { closedAtEnd } from '../closed-at-end.ts';
import { createMigratedDatabase } from '../database/migrated-database.ts';
import { openTestConnection } from '../database/open-test-connection.ts';
import { startProcess } from './process.ts';
import { sendJson } from '../http/send-json.ts';
import { responseChecker } from './check-response.ts';
import type { OpenApiDocument } from './document.ts';

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
  let checker: Promise<ReturnType<typeof responseChecker>> | undefined;

  async function loadChecker() {
    const { body } = await sendJson(url, 'GET', '/openapi.json');
    return responseChecker(body as OpenApiDocument);
  }

  return {
    ...service,
    url,
    database,
    db,

    /**
     * Sends `body` as JSON, or as it is when it is a string.
     * @throws Error when the service's OpenAPI document lacks the response, or a body is not JSON by its type
     */
    async request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const check = await (checker ??= loadChecker());
      const response = await sendJson(url, method, path, body, headers);
      check(method, path, response.status, response.body);
      const type = response.headers.get('content-type');
      if (response.body !== undefined && type !== 'application/json; charset=utf-8')
        throw new Error(`The response to ${method} ${path} has the type ${type}`);
      return response;
    },

    /** Ends the process and drops the database. */
    stop: closedAtEnd(async () => {
      service.child.kill('SIGTERM');
      await service.ended;
      await db.destroy();
      await database.drop();
    }),
  };
}
