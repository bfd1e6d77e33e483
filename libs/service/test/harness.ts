import { type AddressInfo } from 'node:net';
import { migrate } from '@rest-services/database';
import { createTestDatabase } from '@rest-services/local-postgres';
import { documentChecker, type OpenApiDocument } from './document.ts';
import { assembleService, type ServiceDefinition } from '../src/run-service.ts';
import { loadSettings } from '../src/settings.ts';

/** An answer over HTTP; `body` is the parsed JSON, `undefined` where there is none. */
export interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

/**
 * Runs a service on an empty database of its own and on a free port.
 * @param environment settings other than the defaults
 */
export async function serve<Tables>(
  definition: Omit<ServiceDefinition<Tables>, 'name' | 'defaultPort'>,
  environment: NodeJS.ProcessEnv = {},
) {
  const database = await createTestDatabase();
  const settings = loadSettings({ LOG_LEVEL: 'silent', DATABASE_URL: database.url, ...environment }, 0);
  const { app, db, lifecycle, onConnectionError } = await assembleService({ name: 'test', ...definition }, settings);
  await migrate({ url: database.url, onConnectionError }, definition.migrations);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

  const check = documentChecker(app.swagger() as unknown as OpenApiDocument);

  return {
    url,
    app,
    db,
    lifecycle,

    /**
     * Sends `body` as JSON, or as it is when it is a string.
     * @throws Error when the answer is another than the service's OpenAPI document has
     */
    async request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const answer = await request(url, method, path, body, headers);
      check(method, path, answer.status, answer.body);
      return answer;
    },

    async stop() {
      await app.close();
      await db.destroy();
      await database.drop();
    },
  };
}

async function request(url: string, method: string, path: string, body: unknown, headers: Record<string, string>) {
  const response = await fetch(url + path, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
  });
  const text = await response.text();
  const answer: Answer = {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
  return answer;
}
