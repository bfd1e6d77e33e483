import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { startCluster } from '@rest-services/local-postgres';
import { readService } from '@rest-services/workspace';
import { sql } from 'kysely';
import { fetchWhenServed } from '../http/fetch-when-served.ts';
import { freeze } from '../database/freeze.ts';
import { send, type Write } from '../http/load.ts';
import { openTestConnection } from '../database/open-test-connection.ts';
import { processesOf } from '../service/processes.ts';
import { sendJson } from '../http/send-json.ts';
import { withRole } from '../database/with-role.ts';

/** A service as its operators see it. */
export interface OperatedService {
  name: string;
  /** Path of the bundle. */
  main: string;
  /** Default port of a service that no app registers. */
  defaultPort?: number;
  /** Path of a list, which is its route template too. */
  list: string;
  /** Body of a POST to `list` that creates a record. */
  record: object;
  firstMigration: string;
  /** All writes: the first creates a record that holds the number, the others change or delete the record of this id. */
  writes: (number: number) => [Write, ...Write[]];
  /** Body of the contract's 500, with `expect.any(String)` for a code. */
  failure: object;
}

/** Maximum time in which a service responds while the database is frozen. */
const RESPONSE_LIMIT_MS = 3_000;

/**
 * Declares the tests of what operators rely on and each service could break: its name, port, migrations, writes and lists.
 * The tests in libs/service check what is the same for all services.
 */
export function testOperations({
  name,
  main,
  defaultPort = readService(name)!.port,
  list,
  record,
  firstMigration,
  writes,
  failure,
}: OperatedService) {
  describe('Operations', () => {
    const processes = processesOf(main);
    const { start } = processes;
    /** Creates the records of the ids 1 and 2. */
    const createTwo = async (url: string) => {
      for (const number of [101, 102]) await expectSuccess(url, writes(number)[0]);
    };
    const changeTheSecond = async (url: string) => {
      for (const write of writes(2)) await expectSuccess(url, write);
    };
    async function expectSuccess(url: string, { method, path, body }: Write) {
      const response = await sendJson(url, method, path, body);
      expect([method, path, response.status < 300, JSON.stringify(response.body)]).toEqual([
        method,
        path,
        true,
        expect.not.stringContaining('Error'),
      ]);
    }
    const jsonOf = async (url: string) => {
      const response = await fetch(url);
      return [response.status, await response.json()];
    };

    describe('Settings', () => {
      test(`PORT is ${defaultPort} and HOST is 0.0.0.0 unless they are set`, async () => {
        // Another program may listen on the port. Then the error message names it.
        const service = start({ PORT: '', HOST: '' });
        const listens = service.logged(/^Server listening at/).then(({ msg }) => msg);
        const refused = service.ended.then(({ errors }) => errors);
        expect(await Promise.race([listens, refused])).toMatch(
          new RegExp(
            `^(Server listening at http://[^:]+:${defaultPort}$|Port ${defaultPort} is taken on 0\\.0\\.0\\.0:)`,
          ),
        );
      });

      test('MIGRATE_ON_START false: /readyz responds 503 until `node main.js migrate` has run', async () => {
        const service = start({ MIGRATE_ON_START: 'false' });
        const url = await service.listening();
        expect(await jsonOf(`${url}/readyz`)).toEqual([
          503,
          { message: expect.stringContaining('migrations pending: ') },
        ]);
        expect(await jsonOf(`${url}/readyz`)).toEqual([503, { message: expect.stringContaining(firstMigration) }]);
        const job = start({}, 'migrate');
        expect((await job.ended).code).toBe(0);
        expect(await jsonOf(`${url}/readyz`)).toEqual([200, { message: 'ready' }]);
        const applied = job.log.filter(({ msg }) => msg === 'Migration applied');
        expect(applied[0]).toMatchObject({
          level: 30,
          migration: expect.stringContaining(firstMigration),
          ms: expect.any(Number),
        });
        expect(applied).toHaveLength(new Set(applied.map(({ migration }) => migration)).size);
      });

      test('COMPRESSION false: no response is compressed, as long ones are otherwise', async () => {
        for (const [COMPRESSION, codings] of [
          ['', ['gzip', 'br', 'identity']],
          ['false', ['identity', 'identity', 'identity']],
        ] as const) {
          const url = await start({ COMPRESSION }).listening();
          const seen = await Promise.all(
            ['gzip', 'br', 'identity'].map(async (coding) => {
              const { headers, body } = await sendJson(url, 'GET', '/openapi.json', undefined, {
                'accept-encoding': coding,
              });
              expect([coding, body]).toEqual([coding, expect.objectContaining({ openapi: '3.1.0' })]);
              return headers.get('content-encoding') ?? 'identity';
            }),
          );
          expect(seen).toEqual(codings);
        }
      });

      test('MIGRATE_ON_START false: the right to change rows is enough for every request', async () => {
        expect((await start({}, 'migrate').ended).code).toBe(0);
        await withRole(processes.database, async (db, role, DATABASE_URL) => {
          await sql`grant select, insert, update, delete on all tables in schema public to ${role}`.execute(db);
          const url = await start({ DATABASE_URL, MIGRATE_ON_START: 'false' }).listening();
          expect(await jsonOf(`${url}/readyz`)).toEqual([200, { message: 'ready' }]);
          await createTwo(url);
          expect((await sendJson(url, 'GET', list)).status).toBe(200);
          await changeTheSecond(url);
        });
      });
    });

    describe('Endpoints', () => {
      test('/livez, /readyz and /openapi.json respond JSON to a browser in production mode', async () => {
        const url = await start({ NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' }).listening();
        for (const path of ['/livez', '/readyz', '/openapi.json']) {
          const { status, headers } = await fetchWhenServed(url + path, { headers: { accept: 'text/html' } });
          expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'application/json; charset=utf-8']);
        }
        expect(await (await fetchWhenServed(`${url}/docs`)).text()).toContain('swagger-ui');
      });

      test('OPTIONS responds 204 with Allow, which the 404 to other methods has, too', async () => {
        const url = await start({ CORS_ORIGIN: 'https://a.example' }).listening();
        const { headers } = await sendJson(url, 'OPTIONS', list);
        expect(headers.get('allow')).toMatch(/^GET, HEAD, POST, .*OPTIONS$/);
        for (const origin of ['https://a.example', 'https://b.example']) {
          for (const [method, status] of [
            ['OPTIONS', 204],
            ['PATCH', 404],
          ] as const) {
            const response = await sendJson(url, method, list, undefined, { origin });
            expect([origin, method, response.status, response.headers.get('allow')]).toEqual([
              origin,
              method,
              status,
              headers.get('allow'),
            ]);
            expect(response.body).toEqual(status === 404 ? { message: 'Not found' } : undefined);
          }
        }
        const unknown = await sendJson(url, 'OPTIONS', '/nowhere');
        expect([unknown.status, unknown.body, unknown.headers.get('allow')]).toEqual([
          404,
          { message: 'Not found' },
          null,
        ]);
      });

      test('the Location of a 201 is the URL of the new record', async () => {
        const url = await start().listening();
        for (const path of [list, `${list}/`, `${list}?a=/b`, `${list}/?a=/b`]) {
          const { method, body } = writes(path.length)[0];
          const { status, headers, body: created } = await sendJson(url, method, path, body);
          // Not every contract has 201.
          if (status !== 201) continue;
          const { id } = created as { id: number };
          expect([path, new URL(headers.get('location')!, url + path).href]).toEqual([path, `${url}${list}/${id}`]);
          const behindProxy = `https://a.example/prefix${path}`;
          expect(new URL(headers.get('location')!, behindProxy).href).toBe(`https://a.example/prefix${list}/${id}`);
        }
      });

      test('/readyz, /metrics and lists respond 200 to 120 concurrent requests each', async () => {
        const url = await start().listening();
        const paths = ['/readyz', '/metrics', list];
        const statuses = (all: string[]) => Promise.all(all.map(async (path) => (await send(url, path)).status));
        const concurrent = paths.flatMap((path) => Array.from({ length: 120 }, () => path));
        let seen = await statuses(concurrent);
        // On a busy machine, the first connections to the database take long, and the CPU may be overloaded.
        for (let retries = 0; retries < 10 && seen.includes(503); retries += 1) seen = await statuses(concurrent);
        expect(new Set(seen)).toEqual(new Set([200]));
      });

      test('/metrics counts requests by route, method and status, and shows pool and process', async () => {
        const url = await start({ NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' }).listening();
        await expectSuccess(url, { method: 'POST', path: list, body: record });
        await fetchWhenServed(url + list);
        await fetchWhenServed(`${url}/nowhere/${Math.random()}`, { method: 'DELETE' });
        await fetchWhenServed(`${url}/docs`);
        let lines: string[];
        const scrape = async () => {
          const response = await fetch(`${url}/metrics`, { headers: { accept: 'text/html' } });
          expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
          lines = (await response.text()).split('\n');
        };
        const value = (name: string, ...labels: string[]) =>
          Number(
            lines
              .find((line) => line.startsWith(name) && labels.every((label) => line.includes(label)))
              ?.split(' ')
              .pop(),
          );
        await scrape();
        // The service uses a connection itself when it folds row counts.
        while (value('database_pool_connections', 'state="in_use"') > 0) await scrape();
        const route = (template: string) => `route="${template}"`;
        const count = 'http_request_duration_seconds_count';
        expect(value(count, 'method="POST"', route(list), 'status="20')).toBe(1);
        expect(value(count, 'method="GET"', route(list), 'status="200"')).toBe(1);
        expect(value(count, 'method="DELETE"', route('none'), 'status="404"')).toBe(1);
        expect(value('http_request_duration_seconds_bucket', route(list), 'status="20', 'le="10"')).toBe(1);
        expect(value('http_request_duration_seconds_sum', 'method="GET"', route(list))).toBeGreaterThan(0);
        expect(value('database_pool_connections', 'state="idle"')).toBeGreaterThanOrEqual(1);
        expect(value('database_pool_connections', 'state="in_use"')).toBe(0);
        expect(value('database_pool_connections', 'state="waiting"')).toBe(0);
        expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
        expect(value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
      });

      test('sessions have the name of the service, unless DATABASE_URL has another', async () => {
        const sessions = async (query: string) => {
          const DATABASE_URL = processes.database.url + query;
          const service = start({ DATABASE_URL });
          const url = await service.listening();
          for (const path of ['/readyz', list]) expect((await sendJson(url, 'GET', path)).status).toBe(200);
          const db = openTestConnection(processes.database.url);
          const { rows } = await sql<{ name: string }>`
          select application_name as name from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`.execute(db);
          await db.destroy();
          service.child.kill('SIGTERM');
          await service.ended;
          return new Set(rows.map((row) => row.name));
        };
        expect(await sessions('')).toEqual(new Set([name]));
        expect(await sessions('?application_name=other')).toEqual(new Set(['other']));
      });
    });

    describe('Failures and log', () => {
      test('writes respond 500 within 3 s while the database is frozen, and succeed afterwards', async () => {
        const directory = await mkdtemp(join(tmpdir(), 'frozen-postgres-'));
        const cluster = await startCluster(directory, { durable: false });
        let thaw: (() => void) | undefined;
        try {
          const service = start({ DATABASE_URL: cluster.url });
          const url = await service.listening();
          await createTwo(url);
          // Opens all connections of the pool, so that the first writes find one.
          await Promise.all(Array.from({ length: 20 }, () => send(url, list)));

          thaw = await freeze(cluster);
          const waiting = Array.from({ length: 5 }, () => writes(1)).flat();
          const outcomes = await Promise.all(waiting.map((write) => send(url, write)));
          for (const [index, { status, body = 'null', ms }] of outcomes.entries()) {
            const { method, path } = waiting[index]!;
            expect([method, path, status, JSON.parse(body), ms < RESPONSE_LIMIT_MS]).toEqual([
              method,
              path,
              500,
              failure,
              true,
            ]);
          }
          expect(await jsonOf(`${url}/livez`)).toEqual([200, { message: 'alive' }]);
          expect(await jsonOf(`${url}/readyz`)).toEqual([503, { message: 'database unreachable' }]);

          thaw();
          await changeTheSecond(url);
          expect(await jsonOf(`${url}/readyz`)).toEqual([200, { message: 'ready' }]);
          expect(JSON.stringify(service.log)).not.toContain(new URL(cluster.url).password);
        } finally {
          thaw?.();
          await cluster.stop();
          await rm(directory, { recursive: true, force: true });
        }
      });

      test('the log has one JSON line per request with its x-request-id, no bodies, no secrets', async () => {
        const service = start();
        const url = await service.listening();
        const headers = {
          'content-type': 'application/json',
          'x-request-id': 'call-7',
          authorization: 'Bearer s3cret',
          cookie: 'session=s3cret',
        };
        const body = '{"title":"s3cret","description":"s3cret","name":"s3cret","released_year":2010}';
        const response = await fetchWhenServed(url + list, { method: 'POST', headers, body });
        expect(response.ok).toBe(true);
        expect(response.headers.get('x-request-id')).toBe('call-7');
        await service.logged(/^request$/);
        service.child.kill('SIGTERM');
        await service.ended;
        // A busy machine may have caused retries.
        const lines = service.log.filter(({ msg, status }) => msg === 'request' && status !== 503);
        expect(lines).toEqual([
          expect.objectContaining({ reqId: 'call-7', method: 'POST', url: list, status: response.status }),
        ]);
        expect(JSON.stringify(service.log)).not.toContain('s3cret');
        expect(JSON.stringify(service.log)).not.toContain(new URL(processes.database.url).password);
      });
    });
  });
}
